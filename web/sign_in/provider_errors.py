"""Messages on the sign-in page after a failed sign-in with a provider.

Streamlit's routes answer a failure with an empty page or with a redirect that gives no reason. This
middleware redirects to the sign-in page instead, with one of the problems below in the query string.
"""

from __future__ import annotations

from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from web.sign_in.oidc import ANSWER_COOKIE

_USER_COOKIE = f"{ANSWER_COOKIE}="
LOGIN, CALLBACK = "/auth/login", "/oauth2callback"
#: The message for each problem. The query string of the sign-in page names the problem (``?provider=…``).
PROBLEMS = {
    "unavailable": (
        "The sign-in provider cannot be reached or is not set up correctly. Try again in a minute. If the "
        "error persists, inform the server's administrator; the server log gives the reason."
    ),
    "denied": "The sign-in provider denied access, or you cancelled the sign-in. Try again, or ask an admin.",
    "expired": ("The sign-in has expired, was started in another window or was already used. Sign in again."),
    "rejected": (
        "The answer of the sign-in provider was not accepted. Try again. If the error persists, inform the "
        "server's administrator; the server log gives the reason."
    ),
    "no-sign-out": "You cannot sign out of the sign-in provider from here. Sign out on its own page.",
}


class ProviderErrors:
    """ASGI middleware around Streamlit's two routes for sign-in with a provider."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in (LOGIN, CALLBACK):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if scope["path"] == CALLBACK and not request.query_params:  # the person returns after signing out
            await RedirectResponse("/sign-in", 303)(scope, receive, send)
            return
        is_replaced = False

        async def send_or_replace(message: Message) -> None:
            nonlocal is_replaced
            if message["type"] == "http.response.start":
                problem = _find_problem(request, message)
                if problem is not None:
                    is_replaced = True
                    cookies = [header for header in message["headers"] if header[0].lower() == b"set-cookie"]
                    await _send_redirect(problem, cookies, scope, receive, send)
            if not is_replaced:
                await send(message)

        await self._app(scope, receive, send_or_replace)


def _find_problem(request: Request, start_message: Message) -> str | None:
    if request.url.path == LOGIN:
        location = Headers(raw=start_message["headers"]).get("location", "")
        return None if location.startswith(("https://", "http://")) else "unavailable"
    user_cookies = [
        cookie
        for cookie in Headers(raw=start_message["headers"]).getlist("set-cookie")
        if cookie.startswith(_USER_COOKIE)
    ]
    if any(not cookie.startswith((f'{_USER_COOKIE}""', f"{_USER_COOKIE};")) for cookie in user_cookies):
        return None
    if request.query_params.get("error"):
        return "denied" if request.query_params["error"] == "access_denied" else "rejected"
    # Streamlit deletes the cookie if the token was rejected, and does not touch it if the sign-in is unknown.
    return "rejected" if user_cookies else "expired"


async def _send_redirect(
    problem: str, cookies: list[tuple[bytes, bytes]], scope: Scope, receive: Receive, send: Send
) -> None:
    """Redirect to the sign-in page, and keep the headers by which Streamlit deletes cookies."""
    response = RedirectResponse(f"/sign-in?provider={quote(problem)}", 303)
    response.raw_headers.extend(cookies)
    await response(scope, receive, send)
