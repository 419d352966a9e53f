"""Sign-in with an OpenID Connect provider, through the routes that ``st.login`` uses.

``st.login`` is called from a script, and no script runs before sign-in. The button on the sign-in page
therefore goes to the route that ``st.login`` uses, with the same ``[auth]`` secrets. Streamlit then sets a
cookie (30 days, without Secure), which the app accepts once, within minutes, and deletes. From then on only
the app's own sign-in counts, with its idle limit and its revocation: docs/decisions/003-own-sign-in.md.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import httpx
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from streamlit.auth_util import (
    build_logout_url,
    get_cookie_with_chunks,
    get_redirect_uri,
    get_secrets_auth_section,
)
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

#: Streamlit's cookie with the provider's answer.
ANSWER_COOKIE: str = USER_COOKIE_NAME
#: Maximum age of the provider's answer at which its cookie is accepted; the browser sends it at once.
_MAX_ANSWER_AGE = timedelta(minutes=2)
#: Seconds to wait for the provider's metadata.
_METADATA_TIMEOUT = 5.0


def load_providers() -> list[Provider]:
    """Return the providers in ``[auth]`` of ``.streamlit/secrets.toml``; none without this section."""
    auth = get_secrets_auth_section()
    if not auth:
        return []
    default_provider = [Provider(name="default", label=_provider_host(auth))] if "client_id" in auth else []
    section_names = (
        name for name, section in auth.items() if hasattr(section, "items") and "client_id" in section
    )
    return default_provider + [Provider(name=name, label=name.capitalize()) for name in section_names]


async def redirect_to_provider(request: Request) -> Response:
    """GET /sign-in/provider?name=…: redirect to the provider, by the route that ``st.login`` uses."""
    name = request.query_params.get("name", "")
    if name not in {provider.name for provider in load_providers()}:
        return PlainTextResponse("This sign-in provider does not exist.", status_code=404)
    try:
        return RedirectResponse(generate_login_redirect_url(name), status_code=303)
    except StreamlitAuthError:
        return PlainTextResponse("The sign-in provider is not fully configured. Ask an admin.", 500)


async def redirect_to_provider_sign_out(request: Request) -> Response:
    """GET /sign-in/provider/sign-out?name=…: redirect to the provider's sign-out, which leads back here.

    This is OpenID Connect RP-Initiated Logout 1.0, with the client's id. The app does not keep a token of the
    person, so the provider may ask the person to confirm.
    """
    name = request.query_params.get("name", "")
    auth = get_secrets_auth_section()
    if not auth or name not in {provider.name for provider in load_providers()}:
        return PlainTextResponse("This sign-in provider does not exist.", status_code=404)
    section = auth if name == "default" else auth[name]
    try:
        async with httpx.AsyncClient(timeout=_METADATA_TIMEOUT) as client:
            metadata = (await client.get(str(section["server_metadata_url"]))).raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError):
        return RedirectResponse("/sign-in?provider=unavailable", status_code=303)
    sign_out_url = metadata.get("end_session_endpoint") if isinstance(metadata, dict) else None
    if not isinstance(sign_out_url, str) or not sign_out_url.startswith(("https://", "http://")):
        return RedirectResponse("/sign-in?provider=no-sign-out", status_code=303)
    location = build_logout_url(
        end_session_endpoint=sign_out_url,
        client_id=str(section["client_id"]),
        post_logout_redirect_uri=str(get_redirect_uri(auth)),
        id_token=None,
    )
    return RedirectResponse(location, status_code=303)


def has_provider_answer(request: Request) -> bool:
    """Whether Streamlit's cookie contains an answer of the provider."""
    return USER_COOKIE_NAME in request.cookies


def load_person_from_answer(request: Request) -> Person:
    """Return the person whom the provider's answer identifies.

    Raises:
        NotSignedIn: the answer is old or forged, or matches no account.
    """
    content = get_cookie_with_chunks(lambda name: _decode_cookie(request, name), USER_COOKIE_NAME)
    try:
        claims = json.loads(content or b"null")
    except ValueError:
        claims = None
    if not isinstance(claims, dict) or claims.get("is_logged_in") is not True:
        raise NotSignedIn("The sign-in provider's answer has expired. Sign in again.")
    if os.environ.get("OVERREAD_OIDC_TRUST_EMAIL") == "1":  # for a trusted provider that omits the claim
        claims["email_verified"] = True
    with unit_of_work() as db:
        return accounts.find_person_by_claims(
            db, claims=claims, role_claim=read_role_claim(), now=datetime.now(UTC)
        )


def read_role_claim() -> accounts.RoleClaim | None:
    """Return the claim that sets roles, with the role for each value; None if the app manages roles.

    The settings are ``OVERREAD_OIDC_ROLES`` (JSON) and ``OVERREAD_OIDC_ROLES_CLAIM`` (``groups`` by default).

    Raises:
        InvalidValue: the setting is not a JSON object, or names an unknown role.
    """
    setting = os.environ.get("OVERREAD_OIDC_ROLES", "").strip()
    if not setting:
        return None
    try:
        roles_by_value = json.loads(setting)
    except ValueError:
        roles_by_value = None
    if not isinstance(roles_by_value, dict):
        raise InvalidValue("OVERREAD_OIDC_ROLES", 'must be a JSON object, such as {"readers": "reader"}')
    return accounts.RoleClaim.from_setting(
        os.environ.get("OVERREAD_OIDC_ROLES_CLAIM") or "groups", roles_by_value
    )


def delete_provider_cookies(request: Request, response: Response) -> None:
    """Delete Streamlit's cookie, which would identify the person for 30 days."""
    for name in request.cookies:
        if re.fullmatch(rf"({USER_COOKIE_NAME}|{TOKENS_COOKIE_NAME})(_\d+)?", name):
            response.delete_cookie(name, path="/")


def _decode_cookie(request: Request, name: str) -> bytes | None:
    value = request.cookies.get(name)
    if value is None:
        return None
    max_age_days = _MAX_ANSWER_AGE / timedelta(days=1)
    return decode_signed_value(get_cookie_secret(), name, value.encode("latin-1"), max_age_days=max_age_days)


def _provider_host(auth: Mapping[str, object]) -> str:
    match = re.match(r"https?://([^/:]+)", str(auth.get("server_metadata_url", "")))
    return match[1] if match else "your organisation"
