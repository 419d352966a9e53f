"""The headers that every answer carries: what a page may load, who may frame it, what may be kept."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.door.cookies import behind_tls

_YEAR = 365 * 24 * 60 * 60
#: Streamlit's front end needs inline styles, and takes a component's script from a blob: address.
_PAGE = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "frame-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
#: A component of the older kind is a page of its own in a frame of ours.
_COMPONENT = _PAGE | {"frame-ancestors": "'self'"}
_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Headers:
    """ASGI middleware that adds them; a route that sets one of them itself keeps its own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        component = scope["path"].startswith("/component/")
        tls = behind_tls(HTTPConnection(scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", _policy(_COMPONENT if component else _PAGE))
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
                if tls:
                    headers.setdefault("Strict-Transport-Security", f"max-age={_YEAR}")
                if headers.get("content-type", "").startswith("text/html"):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _policy(directives: dict[str, str]) -> str:
    return "; ".join(f"{name} {value}" for name, value in directives.items())
