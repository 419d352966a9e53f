"""Overread in the browser: ``streamlit run app.py``."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from domain.errors import DomainError
from storage.schema import prepare_workspace
from ui.door.errors import Errors, on_script_error
from ui.door.gate import Gate
from ui.door.headers import Headers
from ui.door.limits import Limits
from ui.door.lingering import Lingering
from ui.door.logs import configure_logs
from ui.door.oidc import providers
from ui.door.radiographs import shared_reader
from ui.door.requests_log import RequestsLog
from ui.door.routes import ROUTES
from ui.door.uploads import keep_uploads_in_memory
from ui.garbage import freeze_modules


@asynccontextmanager
async def _lifespan(_app: st.App) -> AsyncIterator[None]:
    configure_logs()
    try:
        await run_in_threadpool(prepare_workspace)
    except DomainError as error:
        print(f"Overread could not start. {error}", file=sys.stderr, flush=True)  # noqa: T201 - for the log
        os._exit(1)  # the server would put a traceback around it, and a page's start has nothing to undo
    shared_reader().start()
    freeze_modules()
    yield


keep_uploads_in_memory()
app = st.App(
    "ui/shell.py",
    routes=ROUTES,
    middleware=[
        Middleware(Headers),
        Middleware(RequestsLog),
        Middleware(Errors),
        Middleware(Limits),
        Middleware(Lingering),
        Middleware(Gate, provider=bool(providers())),
    ],
    on_script_error=on_script_error,
    lifespan=_lifespan,
)
