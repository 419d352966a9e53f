"""Logs one line per request, with person, route, status and duration."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Container, Iterable
from time import perf_counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.metrics import note_request, note_websocket
from web.routes import find_route

_LOG = logging.getLogger("overread.requests")
_REQUEST_ID = re.compile(r"[0-9a-f]{32}")
#: Streamlit's own files. They are the same for everybody, and each page loads dozens of them.
_UNLOGGED_PATHS = ("/static/", "/_stcore/bidi-components/", "/frontend/")
_STREAMLIT_PATHS = (
    "/_stcore/stream",
    "/_stcore/upload_file",
    "/_stcore/health",
    "/_stcore/host-config",
    "/auth",
    "/media",
)


class RequestLog:
    """ASGI middleware that logs requests without their URLs, which may contain an exam's id or a code.

    ``pages`` are the names of the pages, as in their URLs.
    """

    def __init__(self, app: ASGIApp, *, pages: Iterable[str]) -> None:
        self._app = app
        self._pages = frozenset({"/", *(f"/{page}" for page in pages)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"} or scope["path"].startswith(_UNLOGGED_PATHS):
            await self._app(scope, receive, send)
            return
        started_at, status = perf_counter(), 0
        state = scope.setdefault("state", {})
        state["request"] = request_id = _read_request_id(scope)
        is_websocket = scope["type"] == "websocket"

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            elif message["type"] == "websocket.accept":
                status = 101
                note_websocket(1)
            elif message["type"] == "websocket.close" and not status:
                status = 403
            await send(message)

        try:
            await self._app(scope, receive, send_and_note_status)
        finally:
            route, seconds = describe_route(scope, pages=self._pages), perf_counter() - started_at
            if not is_websocket:
                note_request(method=scope["method"], route=route, status=status, seconds=seconds)
            elif status == 101:
                note_websocket(-1)
            _LOG.log(
                logging.WARNING if status >= 500 else logging.INFO,
                "websocket closed" if is_websocket else "request",
                extra={
                    "error": state.get("error"),
                    "person": state.get("person"),
                    "method": scope.get("method", "WEBSOCKET"),
                    "route": route,
                    "status": status,
                    "ms": round(seconds * 1000),
                    "request": request_id,
                    "client": (scope.get("client") or ("",))[0],
                },
            )


def _read_request_id(scope: Scope) -> str:
    """Return the id that nginx gave to the request ($request_id), or a new id."""
    sent_id = Headers(scope=scope).get("x-request-id", "")
    return sent_id if _REQUEST_ID.fullmatch(sent_id) else secrets.token_hex(16)


def describe_route(scope: Scope, *, pages: Container[str]) -> str:
    """Return the route pattern, with parameter names in place of the values in the URL."""
    path: str = scope["path"]
    match = find_route(scope) if scope["type"] == "http" else None
    if match is not None:
        return match[1].path
    if path in pages:
        return path
    return next((prefix for prefix in _STREAMLIT_PATHS if path.startswith(prefix)), "another")
