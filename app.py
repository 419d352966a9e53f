"""Overread in the browser: ``streamlit run app.py``."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware

from storage.schema import prepare_workspace
from ui.door.gate import Gate
from ui.door.headers import Headers
from ui.door.oidc import providers
from ui.door.radiographs import shared_reader
from ui.door.routes import ROUTES


@asynccontextmanager
async def _lifespan(_app: st.App) -> AsyncIterator[None]:
    await run_in_threadpool(prepare_workspace)
    shared_reader().start()
    yield


app = st.App(
    "ui/shell.py",
    routes=ROUTES,
    middleware=[Middleware(Headers), Middleware(Gate, provider=bool(providers()))],
    lifespan=_lifespan,
)
