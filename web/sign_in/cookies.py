"""The cookies of the app: for the sign-in, the sign-in form, the second factor, and the requested page."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from urllib.parse import quote, unquote

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

#: Behind TLS, the cookies have the prefix __Host-: browsers then enforce host, Secure and path "/".
_SIGN_IN_TLS_COOKIE, _SIGN_IN_COOKIE = "__Host-overread", "overread"
_FORM_TLS_COOKIE, _FORM_COOKIE = "__Host-overread-form", "overread-form"
_PENDING_TLS_COOKIE, _PENDING_COOKIE = "__Host-overread-step", "overread-step"
_DESTINATION_TLS_COOKIE, _DESTINATION_COOKIE = "__Host-overread-page", "overread-page"
_UNPREFIXED_COOKIES = frozenset({_SIGN_IN_COOKIE, _FORM_COOKIE, _PENDING_COOKIE, _DESTINATION_COOKIE})
#: A page of this app with its parameters. The app redirects to nothing else: "//host" is another server.
_DESTINATION = re.compile(r"/[a-z_]{1,40}(\?[A-Za-z0-9_=&%.+-]{1,500})?", re.ASCII)
#: Seconds within which the person must sign in to be redirected to the page.
_DESTINATION_SECONDS = 600


def generate_token() -> str:
    """Return 256 random bits as 43 characters that are valid in a cookie."""
    return secrets.token_urlsafe(32)


def find_sign_in_token(cookies: Mapping[str, str]) -> str | None:
    """Return the sign-in token from either cookie. The gate and the scripts both use this function.

    Behind TLS the gate removes cookies without the prefix (:func:`drop_unprefixed_cookies`).
    """
    return _read_cookie(cookies, _SIGN_IN_TLS_COOKIE) or _read_cookie(cookies, _SIGN_IN_COOKIE)


def find_form_token(cookies: Mapping[str, str]) -> str | None:
    """Return the token that the sign-in form must send back."""
    return _read_cookie(cookies, _FORM_TLS_COOKIE) or _read_cookie(cookies, _FORM_COOKIE)


def find_pending_token(cookies: Mapping[str, str]) -> str | None:
    """Return the token of a browser that has sent the correct password but no second factor yet."""
    return _read_cookie(cookies, _PENDING_TLS_COOKIE) or _read_cookie(cookies, _PENDING_COOKIE)


def is_behind_tls(connection: HTTPConnection) -> bool:
    """Whether the browser connects by HTTPS, to the app or to the proxy in front of it.

    The server sets the scheme from the header X-Forwarded-Proto, but only if it comes from a proxy listed in
    ``FORWARDED_ALLOW_IPS`` (127.0.0.1 by default).
    """
    return connection.url.scheme in {"https", "wss"}


def drop_unprefixed_cookies(scope: Scope) -> None:
    """Behind TLS, drop the app's cookies without the prefix: a neighbouring host could have set them."""
    connection = HTTPConnection(scope)
    if not is_behind_tls(connection) or not _UNPREFIXED_COOKIES & set(connection.cookies):
        return
    headers = MutableHeaders(scope=scope)
    parts = [part.strip() for part in headers.get("cookie", "").split(";")]
    headers["cookie"] = "; ".join(
        part for part in parts if part.split("=")[0].strip() not in _UNPREFIXED_COOKIES
    )


def set_sign_in_cookie(response: Response, token: str, *, tls: bool) -> None:
    """Set a session cookie; the database decides how long the sign-in is valid.

    SameSite is Lax, so a link from another site opens the app signed in. Routes that write check the origin.
    """
    response.set_cookie(
        _SIGN_IN_TLS_COOKIE if tls else _SIGN_IN_COOKIE,
        token,
        path="/",
        secure=tls,
        httponly=True,
        samesite="lax",
    )


def set_form_cookie(response: Response, token: str, *, tls: bool) -> None:
    _set_strict_cookie(response, _FORM_TLS_COOKIE if tls else _FORM_COOKIE, token, tls=tls)


def set_pending_cookie(response: Response, token: str, *, tls: bool) -> None:
    _set_strict_cookie(response, _PENDING_TLS_COOKIE if tls else _PENDING_COOKIE, token, tls=tls)


def delete_pending_cookie(response: Response, *, tls: bool) -> None:
    response.delete_cookie(
        _PENDING_TLS_COOKIE if tls else _PENDING_COOKIE,
        path="/",
        secure=tls,
        httponly=True,
        samesite="strict",
    )


def find_destination(cookies: Mapping[str, str]) -> str | None:
    """Return the page that the browser requested before the sign-in, such as "/review?batch=1"."""
    value = _read_cookie(cookies, _DESTINATION_TLS_COOKIE) or _read_cookie(cookies, _DESTINATION_COOKIE) or ""
    destination = unquote(value)
    return destination if _DESTINATION.fullmatch(destination) else None


def set_destination_cookie(response: Response, destination: str, *, tls: bool) -> None:
    """Store the page until the sign-in. Do nothing if it is not a page of this app."""
    if _DESTINATION.fullmatch(destination):
        response.set_cookie(
            _DESTINATION_TLS_COOKIE if tls else _DESTINATION_COOKIE,
            quote(destination, safe=""),
            max_age=_DESTINATION_SECONDS,
            path="/",
            secure=tls,
            httponly=True,
            samesite="lax",  # a sign-in provider redirects here from another site
        )


def delete_destination_cookie(response: Response, *, tls: bool) -> None:
    response.delete_cookie(
        _DESTINATION_TLS_COOKIE if tls else _DESTINATION_COOKIE,
        path="/",
        secure=tls,
        httponly=True,
        samesite="lax",
    )


def _set_strict_cookie(response: Response, name: str, token: str, *, tls: bool) -> None:
    response.set_cookie(name, token, path="/", secure=tls, httponly=True, samesite="strict")


def _read_cookie(cookies: Mapping[str, object], name: str) -> str | None:
    try:
        value = cookies[name]
    except KeyError:
        return None
    return value if isinstance(value, str) and value else None  # tests pass other mappings
