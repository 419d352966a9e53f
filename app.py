"""Overread in the browser: ``streamlit run app.py``."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from domain.errors import DomainError
from storage.schema import prepare_workspace
from storage.workspace import PRIVATE_UMASK
from ui.background_jobs.job_control import worker
from ui.garbage_collection import freeze_modules
from ui.navigation import PAGES
from ui.script_errors import handle_script_error
from web.allowed_hosts import AllowedHosts, read_allowed_names
from web.disconnect_grace import DisconnectGrace
from web.errors import ErrorMiddleware
from web.gate import Gate
from web.headers import SecurityHeaders
from web.images.radiographs import shared_decoder
from web.logs import configure_logs
from web.metrics import count_logged_errors
from web.request_limits import RequestLimits
from web.request_log import RequestLog
from web.routes import ROUTES
from web.sign_in.oidc import load_providers
from web.sign_in.presence import sign_in_policy
from web.sign_in.provider_errors import ProviderErrors
from web.uploads import keep_uploads_in_memory


def _back_up(revision: str) -> None:
    from storage.backup import back_up_before_migration  # noqa: PLC0415 - rarely needed

    back_up_before_migration(revision, now=datetime.now(UTC))


@asynccontextmanager
async def _lifespan(_app: st.App) -> AsyncIterator[None]:
    os.umask(PRIVATE_UMASK)
    configure_logs()
    count_logged_errors()
    try:
        read_allowed_names()
        sign_in_policy()
        await run_in_threadpool(prepare_workspace, before_migration=_back_up)
    except DomainError as error:
        print(f"Overread could not start. {error}", file=sys.stderr, flush=True)  # noqa: T201 - for the log
        os._exit(1)  # the server would print a traceback; nothing needs cleanup
    shared_decoder().start()
    freeze_modules()
    worker().watch()
    yield
    await run_in_threadpool(worker().stop)


keep_uploads_in_memory()
app = st.App(
    "ui/shell.py",
    routes=ROUTES,
    middleware=[
        Middleware(SecurityHeaders),
        Middleware(RequestLog, pages=[page.path.stem for page in PAGES]),
        Middleware(ErrorMiddleware),
        Middleware(AllowedHosts),
        Middleware(RequestLimits),
        Middleware(DisconnectGrace),
        Middleware(Gate, provider=bool(load_providers())),
        Middleware(ProviderErrors),
    ],
    on_script_error=handle_script_error,
    lifespan=_lifespan,
)
