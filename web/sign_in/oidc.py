"""Sign-in by an OpenID Connect provider: the routes behind ``st.login``, exchanged for a sign-in of ours.

``st.login`` itself is a call from a script, and before sign-in no script of ours runs. The button on the
sign-in page goes where ``st.login`` goes, with the same ``[auth]`` secrets; on the way back the cookie
that Streamlit leaves (30 days, without Secure) is taken once, within minutes, and deleted. From then on
the app's own sign-in counts, with its idle limit and its revocation: docs/decisions/003-own-sign-in.md.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from streamlit.auth_util import get_cookie_with_chunks, get_secrets_auth_section
from streamlit.errors import StreamlitAuthError
from streamlit.user_info import generate_login_redirect_url
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import TOKENS_COOKIE_NAME, USER_COOKIE_NAME

from accounts import service as accounts
from domain.errors import InvalidValue, NotSignedIn
from domain.people import Person
from storage.unit_of_work import unit_of_work
from web.sign_in.html_pages import Provider

#: How long after the provider's answer its cookie is taken; the browser brings it at once.
_FRESH = timedelta(minutes=2)


def providers() -> list[Provider]:
    """The providers that ``.streamlit/secrets.toml`` sets up in ``[auth]``; none without such a section."""
    auth = get_secrets_auth_section()
    if not auth:
        return []
    found = [Provider(name="default", shown=_host_of(auth))] if "client_id" in auth else []
    sections = (
        name for name, section in auth.items() if hasattr(section, "items") and "client_id" in section
    )
    return found + [Provider(name=name, shown=name.capitalize()) for name in sections]


async def to_provider(request: Request) -> Response:
    """GET /sign-in/provider?name=…: on to the provider, by the route that ``st.login`` uses."""
    name = request.query_params.get("name", "")
    if name not in {provider.name for provider in providers()}:
        return PlainTextResponse("There is no such sign-in provider.", status_code=404)
    try:
        return RedirectResponse(generate_login_redirect_url(name), status_code=303)
    except StreamlitAuthError:
        return PlainTextResponse("The sign-in provider is not set up completely. Tell an admin.", 500)


def came_back(request: Request) -> bool:
    """Whether the provider's answer is waiting in Streamlit's cookie."""
    return USER_COOKIE_NAME in request.cookies


def person_who_came_back(request: Request) -> Person:
    """Who the provider's answer says it is.

    Raises:
        NotSignedIn: the answer is old or forged, or belongs to nobody here.
    """
    content = get_cookie_with_chunks(lambda name: _signed(request, name), USER_COOKIE_NAME)
    try:
        claims = json.loads(content or b"null")
    except ValueError:
        claims = None
    if not isinstance(claims, dict) or claims.get("is_logged_in") is not True:
        raise NotSignedIn("The sign-in provider's answer is too old. Please sign in again.")
    if os.environ.get("OVERREAD_OIDC_TRUST_EMAIL") == "1":  # a provider of one's own that never says so
        claims["email_verified"] = True
    with unit_of_work() as db:
        return accounts.person_of_claims(db, claims=claims, role_claim=role_claim(), now=datetime.now(UTC))


def role_claim() -> accounts.RoleClaim | None:
    """Which claim gives roles, and which of its values which: ``OVERREAD_OIDC_ROLES`` (JSON) and
    ``OVERREAD_OIDC_ROLES_CLAIM`` (``groups`` where it is not set); None where roles are ours.

    Raises:
        InvalidValue: no JSON object, or a role that is none.
    """
    said = os.environ.get("OVERREAD_OIDC_ROLES", "").strip()
    if not said:
        return None
    try:
        values = json.loads(said)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        raise InvalidValue("OVERREAD_OIDC_ROLES", 'must be a JSON object, such as {"readers": "reader"}')
    return accounts.RoleClaim.of(os.environ.get("OVERREAD_OIDC_ROLES_CLAIM") or "groups", values)


def forget(request: Request, response: Response) -> None:
    """Delete what Streamlit left in the browser; it would say who somebody is for 30 days."""
    for name in request.cookies:
        if re.fullmatch(rf"({USER_COOKIE_NAME}|{TOKENS_COOKIE_NAME})(_\d+)?", name):
            response.delete_cookie(name, path="/")


def _signed(request: Request, name: str) -> bytes | None:
    value = request.cookies.get(name)
    if value is None:
        return None
    days = _FRESH / timedelta(days=1)
    return decode_signed_value(get_cookie_secret(), name, value.encode("latin-1"), max_age_days=days)


def _host_of(auth: Mapping[str, object]) -> str:
    host = re.match(r"https?://([^/:]+)", str(auth.get("server_metadata_url", "")))
    return host[1] if host else "your organisation"
