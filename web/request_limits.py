"""Limits on the size and the transfer time of every request, applied before anything reads its body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config

from web.sign_in.html_pages import POLICY, error_page

KIB, MIB = 1 << 10, 1 << 20
#: Largest body in bytes of forms outside Streamlit, and of all other requests except uploads.
_MAX_FORM_BYTES, _MAX_OTHER_BYTES = 16 * KIB, 2 * MIB
_FORM_PATHS = ("/sign-in", "/sign-in/code", "/first-admin")
_UPLOAD_PATH = "/_stcore/upload_file/"
#: Seconds that every body may take in any case, and the minimum transfer rate after that.
GRACE_SECONDS, MIN_BYTES_PER_SECOND = 20.0, 16 * KIB
#: Limits in bytes and seconds for reading and discarding a refused body before the connection is closed.
_MAX_DISCARDED_BYTES, _DISCARD_SECONDS = 2 * MIB, 2.0


def max_body_bytes(path: str) -> int:
    """Return the largest permitted body of a request to this path, in bytes."""
    if path in _FORM_PATHS:
        return _MAX_FORM_BYTES
    if path.startswith(_UPLOAD_PATH):
        return int(config.get_option("server.maxUploadSize") + 1) * MIB  # plus the form's own bytes
    return _MAX_OTHER_BYTES


class RequestLimits:
    """ASGI middleware that answers 413 to a body that is too large and 408 to a body that is too slow."""

    def __init__(
        self, app: ASGIApp, *, patience: float = GRACE_SECONDS, clock: Callable[[], float] = monotonic
    ) -> None:
        self._app = app
        self._patience = patience
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        max_bytes = max_body_bytes(scope["path"])
        declared_length = Request(scope).headers.get("content-length", "0")
        if not declared_length.isdecimal() or int(declared_length) > max_bytes:
            await _discard(receive, seconds=min(self._patience, _DISCARD_SECONDS))
            await _too_large_response(Request(scope), _describe_limit(max_bytes))(scope, receive, send)
            return
        body = _TimedBody(receive, max_bytes=max_bytes, patience=self._patience, clock=self._clock)
        await self._app(scope, body.receive, send)


class _TimedBody:
    """A request's body, counted and timed as it arrives."""

    def __init__(
        self, receive: Receive, *, max_bytes: int, patience: float, clock: Callable[[], float]
    ) -> None:
        self._receive = receive
        self._max_bytes = max_bytes
        self._patience = patience
        self._clock = clock
        self._started_at: float | None = None
        self._length = 0
        self._is_complete = False

    async def receive(self) -> Message:
        if self._is_complete:
            return await self._receive()  # after the body, only the disconnect message follows
        if self._started_at is None:
            self._started_at = self._clock()
        seconds_left = self._started_at + self._patience + self._length / MIN_BYTES_PER_SECOND - self._clock()
        try:
            message = await asyncio.wait_for(self._receive(), max(seconds_left, 0.001))
        except TimeoutError as error:
            text = "The request took too long to arrive."
            raise HTTPException(408, text, {"Connection": "close"}) from error
        self._length += len(message.get("body", b""))
        if self._length > self._max_bytes:
            if message.get("more_body", False):
                await _discard(self._receive, seconds=min(self._patience, _DISCARD_SECONDS))
            raise HTTPException(413, _describe_limit(self._max_bytes), {"Connection": "close"})
        self._is_complete = not message.get("more_body", False)
        return message


async def _discard(receive: Receive, *, seconds: float) -> None:
    """Read a refused body, up to a limit, and discard it.

    The kernel resets a connection that is closed while bytes are unread. The client then reports a broken
    connection and does not receive the response.
    """
    length = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while length <= _MAX_DISCARDED_BYTES:
                message = await receive()
                length += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _describe_limit(max_bytes: int) -> str:
    return (
        f"The request is larger than {max_bytes // MIB} MiB."
        if max_bytes >= MIB
        else f"The request is larger than {max_bytes // KIB} KiB."
    )


def _too_large_response(request: Request, text: str) -> Response:
    """Return a 413 response: HTML for forms that the browser submits, JSON for the app's own scripts."""
    headers = {"Connection": "close"}
    if "text/html" in request.headers.get("accept", ""):
        page = error_page(text=text, next_step="Go back and try again with less data.")
        return HTMLResponse(page, 413, headers | {"Content-Security-Policy": POLICY})
    return JSONResponse({"error": text, "kind": "TooLarge"}, 413, headers)
