"""Cookies: the sign-in's token, and the token of the sign-in form."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

#: Behind TLS the cookie carries the prefix that browsers hold to: this host only, Secure, path "/".
_SIGN_IN_TLS, _SIGN_IN = "__Host-overread", "overread"
_FORM_TLS, _FORM = "__Host-overread-form", "overread-form"


def new_token() -> str:
    """256 bits of chance in 43 characters that a cookie may hold."""
    return secrets.token_urlsafe(32)


def sign_in_token(cookies: Mapping[str, str]) -> str | None:
    """The sign-in's token, from whichever of the two cookies is there. Gate and script both ask here.

    Behind TLS the gate lets only the cookie with the prefix in (:func:`without_plain`).
    """
    return _text(cookies, _SIGN_IN_TLS) or _text(cookies, _SIGN_IN)


def form_token(cookies: Mapping[str, str]) -> str | None:
    """The token that must come back in the sign-in form."""
    return _text(cookies, _FORM_TLS) or _text(cookies, _FORM)


def behind_tls(connection: HTTPConnection) -> bool:
    """Whether the browser came by HTTPS, to us or to the proxy before us.

    The server sets the scheme by the header X-Forwarded-Proto, and only when that comes from a proxy that
    ``FORWARDED_ALLOW_IPS`` names (127.0.0.1 where it is not set); from anybody else it is not believed.
    """
    return connection.url.scheme in {"https", "wss"}


def without_plain(scope: Scope) -> None:
    """Behind TLS, drop our cookies that lack the prefix: a neighbouring host could have planted them."""
    connection = HTTPConnection(scope)
    if not behind_tls(connection) or not {_SIGN_IN, _FORM} & set(connection.cookies):
        return
    headers = MutableHeaders(scope=scope)
    parts = [part.strip() for part in headers.get("cookie", "").split(";")]
    headers["cookie"] = "; ".join(
        part for part in parts if part.split("=")[0].strip() not in {_SIGN_IN, _FORM}
    )


def keep_sign_in(response: Response, token: str, *, tls: bool) -> None:
    """A cookie for as long as the browser is open; how long it counts is decided by the database.

    SameSite=Lax, so that a link from elsewhere opens the app signed in; every write checks its origin.
    """
    response.set_cookie(
        _SIGN_IN_TLS if tls else _SIGN_IN, token, path="/", secure=tls, httponly=True, samesite="lax"
    )


def keep_form_token(response: Response, token: str, *, tls: bool) -> None:
    response.set_cookie(
        _FORM_TLS if tls else _FORM, token, path="/", secure=tls, httponly=True, samesite="strict"
    )


def _text(cookies: Mapping[str, object], name: str) -> str | None:
    try:
        value = cookies[name]
    except KeyError:
        return None
    return value if isinstance(value, str) and value else None  # a test's stand-in is not a cookie
