"""The host names to which the app answers, as protection against DNS rebinding.

In this attack, another site points its own host name to this machine. The site's scripts then reach the app
under their own origin, and could sign in with a known password, such as the password of a demo account. The
browser still sends the site's name in the header Host, so the app rejects every name that is not in its
settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from ipaddress import ip_address

from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from domain.errors import InvalidValue
from web.sign_in.html_pages import POLICY, error_page

_SETTING = "OVERREAD_ALLOWED_HOSTS"
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
#: A host with or without a port (RFC 9110, 7.2; RFC 3986, 3.2.2).
_HOST_HEADER = re.compile(r"(\[(?P<ipv6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(:[0-9]{1,5})?")
_MAX_SHOWN_LENGTH = 100


def read_allowed_names() -> frozenset[str]:
    """Return the host names in ``OVERREAD_ALLOWED_HOSTS``, separated by commas; none by default.

    Raises:
        InvalidValue: an entry is not a host name, for example because it has a port or ``https://``.
    """
    names = [name.strip().lower() for name in os.environ.get(_SETTING, "").split(",") if name.strip()]
    for name in names:
        if not _HOST_NAME.fullmatch(name):
            raise InvalidValue(
                _SETTING,
                f"{name!r} is not a host name. Write names such as overread.example.org, without port",
            )
    return frozenset(names)


def is_allowed(host: str, names: Collection[str]) -> bool:
    """Whether the app answers to a value of the header Host.

    ``localhost`` and IP addresses are always allowed, because another site cannot use them as its name.
    """
    match = _HOST_HEADER.fullmatch(host.strip().lower())
    if match is None:
        return False
    name = (match["ipv6"] or match["name"]).removesuffix(".")
    return name == "localhost" or name in names or _is_ip_address(name)


class AllowedHosts:
    """ASGI middleware that rejects requests (status 400) and websockets to a name that is not allowed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        hosts = HTTPConnection(scope).headers.getlist("host")
        # Every browser sends the header. A health check with HTTP/1.0 may omit it.
        if not hosts or (len(hosts) == 1 and is_allowed(hosts[0], read_allowed_names())):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()  # websocket.connect
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _refusal_response(", ".join(hosts))(scope, receive, send)


def _refusal_response(host: str) -> Response:
    page = error_page(
        text=f"Overread does not answer to the name {host[:_MAX_SHOWN_LENGTH]!r}.",
        next_step=f"If the name is right, add it to the setting {_SETTING} and restart the app.",
    )
    return HTMLResponse(page, 400, headers={"Content-Security-Policy": POLICY})


def _is_ip_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
