"""Unexpected errors: the person sees an error number, and the log has the same number."""

from __future__ import annotations

import logging
import secrets

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import DomainError, NotNow
from web.logs import where
from web.requests import AGAIN_AFTER, status_of
from web.sign_in.html_pages import POLICY, trouble_page

_LOG = logging.getLogger("overread.errors")
_SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without characters that are confused when read aloud


def new_error_number() -> str:
    """Eight random characters, such as "K7QX-2MRA": short enough to be read out on the telephone."""
    signs = "".join(secrets.choice(_SIGNS) for _ in range(8))
    return f"{signs[:4]}-{signs[4:]}"


def apology(number: str) -> str:
    """The text that the person sees. It leaves out the exception, which may contain a patient's values."""
    return (
        f"Something went wrong here that nobody had foreseen. Error number {number}. What was saved is "
        "safe. Reload the page and try again; if it comes back, tell whoever runs this server the number."
    )


class Errors:
    """ASGI middleware: an exception of a route becomes a 500 with an error number, and a line in the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except DomainError as error:  # for example, the gate could not read the database
            if started:
                raise
            away = isinstance(error, NotNow)
            answer = _answer(
                Request(scope), str(error), kind=type(error).__name__, status=status_of(error), again=away
            )
            await answer(scope, receive, send)
        except Exception as error:  # any exception: the log says where it was raised
            number = new_error_number()
            scope.setdefault("state", {})["error"] = number
            _LOG.error(where(error), extra={"error": number})
            if started:
                raise
            answer = _answer(Request(scope), apology(number), kind="Fault", status=500)
            await answer(scope, receive, send)


def _answer(request: Request, text: str, *, kind: str, status: int, again: bool = False) -> Response:
    """The error response: a page for a person, JSON for a script. ``again`` adds a Retry-After header."""
    headers = {"Retry-After": str(AGAIN_AFTER)} if again else {}
    if "text/html" not in request.headers.get("accept", "") or request.method != "GET":
        return JSONResponse({"error": text, "kind": kind}, status, headers)
    headers |= {"Refresh": headers["Retry-After"]} if again else {}
    what_next = f"It is asked for again every {AGAIN_AFTER} seconds." if again else "Go back, or reload it."
    page = trouble_page(text=text, what_next=what_next)
    return HTMLResponse(page, status, headers | {"Content-Security-Policy": POLICY})
