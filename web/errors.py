"""Unexpected errors: the user sees an error number, and the log has the same number."""

from __future__ import annotations

import logging
import secrets

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import DomainError, NotNow
from web.logs import describe_error_location
from web.requests import RETRY_AFTER_SECONDS, http_status
from web.sign_in.html_pages import POLICY, error_page

_LOG = logging.getLogger("overread.errors")
_CODE_CHARS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without characters that are confused when read aloud


def generate_error_number() -> str:
    """Generate eight random characters, such as "K7QX-2MRA", which are easy to dictate."""
    code = "".join(secrets.choice(_CODE_CHARS) for _ in range(8))
    return f"{code[:4]}-{code[4:]}"


def describe_unexpected_error(number: str) -> str:
    """Return the text for the user. It omits the exception message, which may contain patient data."""
    return (
        f"Unexpected error. Error number {number}. Saved data is safe. Reload the page and try again. "
        "If the error persists, report the number to an admin."
    )


class ErrorMiddleware:
    """ASGI middleware that converts exceptions to responses, and logs unexpected exceptions with a number."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_started = False

        async def send_and_note_start(message: Message) -> None:
            nonlocal has_started
            has_started = has_started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, send_and_note_start)
        except DomainError as error:  # for example, the gate could not read the database
            if has_started:
                raise
            is_temporary = isinstance(error, NotNow)
            response = _error_response(
                Request(scope),
                str(error),
                kind=type(error).__name__,
                status=http_status(error),
                is_temporary=is_temporary,
            )
            await response(scope, receive, send)
        except Exception as error:  # the log states where the exception was raised
            number = generate_error_number()
            scope.setdefault("state", {})["error"] = number
            request_id = scope["state"].get("request")
            _LOG.error(describe_error_location(error), extra={"error": number, "request": request_id})
            if has_started:
                raise
            response = _error_response(
                Request(scope), describe_unexpected_error(number), kind="Fault", status=500
            )
            await response(scope, receive, send)


def _error_response(
    request: Request, text: str, *, kind: str, status: int, is_temporary: bool = False
) -> Response:
    """Return the error as a page or, for scripts, as JSON. ``is_temporary`` adds the header Retry-After."""
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)} if is_temporary else {}
    if "text/html" not in request.headers.get("accept", "") or request.method != "GET":
        return JSONResponse({"error": text, "kind": kind}, status, headers)
    headers |= {"Refresh": headers["Retry-After"]} if is_temporary else {}
    next_step = (
        f"The page reloads every {RETRY_AFTER_SECONDS} seconds."
        if is_temporary
        else "Go back, or reload the page."
    )
    request_id = request.scope.get("state", {}).get("request")
    if request_id:
        next_step += f" Request {request_id}."
    page = error_page(text=text, next_step=next_step)
    return HTMLResponse(page, status, headers | {"Content-Security-Policy": POLICY})
