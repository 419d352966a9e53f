"""What a person reads when a sign-in through a provider fails, and how they sign out there."""

from __future__ import annotations

import shutil
import socket
import warnings
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from domain.people import Role
from tests.e2e.conftest import running_app
from tests.e2e.test_sign_in_provider import _SECRETS, sign_in_through_provider

pytestmark = pytest.mark.full

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import oidc_provider_mock

_UNREACHABLE_PROVIDER = """
[auth.away]
client_id = "overread"
client_secret = "only for this test"
server_metadata_url = "http://localhost:{unused_port}/.well-known/openid-configuration"
"""
ANNA = {"email": "anna@example.org", "email_verified": True}


@pytest.fixture(scope="module")
def provider():
    with oidc_provider_mock.run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture(scope="module")
def app(provider, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory):
    """The app with a provider that works and one that cannot be reached."""
    home = tmp_path_factory.mktemp("workspace")
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    secrets = home.parent / f"{home.name}-secrets.toml"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    secrets.write_text(
        _SECRETS.format(issuer=provider) + _UNREACHABLE_PROVIDER.format(unused_port=port), "utf-8"
    )
    log = home.parent / f"{home.name}.log"
    with running_app(home, log, arguments=["--secrets.files", str(secrets)]) as running:
        running.add_person("anna@example.org", Role.ADMIN)
        yield running


@pytest.fixture
def client(app):
    with httpx.Client(base_url=app.url, follow_redirects=True, headers={"Accept": "text/html"}) as client:
        yield client


def test_sign_in_page_explains_that_the_provider_cannot_be_reached(client):
    response = client.get("/sign-in/provider", params={"name": "away"})
    assert response.url.path == "/sign-in"
    assert "The sign-in provider cannot be reached" in response.text
    assert "Sign in with Hospital" in response.text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("error=access_denied&state=x", "denied access, or you cancelled the sign-in"),
        ("error=server_error&state=x", "was not accepted"),
        ("code=stale&state=unknown", "has expired"),
    ],
)
def test_sign_in_page_explains_why_the_provider_signed_nobody_in(client, query, message):
    response = client.get(f"/oauth2callback?{query}")
    assert response.url.path == "/sign-in"
    assert message in response.text


def test_code_that_the_provider_rejects_is_reported_and_signs_nobody_in(client, provider):
    at_provider = client.get("/sign-in/provider", params={"name": "hospital"})
    state = at_provider.url.params["state"]
    response = client.get("/oauth2callback", params={"code": "forged", "state": state})
    assert "was not accepted" in response.text
    assert "overread" not in client.cookies


def test_unknown_problem_in_the_address_shows_no_message(client):
    assert "alert" not in client.get("/sign-in?provider=<b>pay</b>").text


def test_sign_in_page_offers_to_sign_out_of_the_provider_that_was_used(client, provider, app):
    sign_in_through_provider(client, provider, "anna", **ANNA)
    app.command("user", "sign-out", "anna@example.org")
    page = client.get("/sign-in").text
    assert '/sign-in/provider/sign-out?name=hospital">Sign out of Hospital' in page
    client.follow_redirects = False
    response = client.get("/sign-in/provider/sign-out", params={"name": "hospital"})
    metadata = httpx.get(f"{provider}/.well-known/openid-configuration").json()
    if "end_session_endpoint" in metadata:
        assert response.headers["location"].startswith(metadata["end_session_endpoint"])
        address = quote(f"{app.url}/oauth2callback", safe="")
        assert f"post_logout_redirect_uri={address}" in response.headers["location"]
        assert client.get("/oauth2callback").headers["location"] == "/sign-in"
    else:
        assert response.headers["location"] == "/sign-in?provider=no-sign-out"


def test_signing_out_of_an_unreachable_provider_is_explained(client):
    response = client.get("/sign-in/provider/sign-out", params={"name": "away"})
    assert "cannot be reached" in response.text


def test_sign_in_page_of_a_new_browser_offers_no_sign_out_of_a_provider(client):
    assert "sign-out" not in client.get("/sign-in").text
