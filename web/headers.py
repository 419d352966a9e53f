"""The headers of every response: what a page may load, who may embed it, and what may be cached."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util

from web.sign_in.cookies import is_behind_tls

_YEAR_SECONDS = 365 * 24 * 60 * 60


def hash_inline_scripts() -> str:
    """Return the hashes of the inline scripts in Streamlit's page, as sources for the policy."""
    page = (Path(file_util.get_static_dir()) / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)


# The strictest policy that the app works with. Styles are inline (docs/decisions/032), and the script of a
# component comes from a blob: URL. Scripts are not evaluated from text, pages cannot be embedded, and no data
# is sent to other hosts.
POLICY = "; ".join(
    (
        "default-src 'self'",
        f"script-src 'self' blob: {hash_inline_scripts()}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "frame-src 'none'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class SecurityHeaders:
    """ASGI middleware that adds the security headers. A header that a route sets itself is kept."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_tls = is_behind_tls(HTTPConnection(scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                for name, value in _SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if is_tls:
                    headers.setdefault("Strict-Transport-Security", f"max-age={_YEAR_SECONDS}")
                if headers.get("content-type", "").startswith("text/html"):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, send_with_headers)
