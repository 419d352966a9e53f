"""Sign-in through an OpenID Connect provider that runs on this machine."""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from accounts import service as accounts
from domain.people import Role
from storage.unit_of_work import read_only_session
from tests.e2e.conftest import RunningApp, running_app

pytestmark = pytest.mark.full

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import oidc_provider_mock

_SECRETS = """
[auth]
redirect_uri = "http://localhost:{{port}}/oauth2callback"
cookie_secret = "only for this test, thirty-two characters"

[auth.hospital]
client_id = "overread"
client_secret = "only for this test"
server_metadata_url = "{issuer}/.well-known/openid-configuration"
"""


#: The roles that each of the provider's groups grants.
_ROLES = {
    "OVERREAD_OIDC_ROLES_CLAIM": "groups",
    "OVERREAD_OIDC_ROLES": '{"cxr-experts": "reviewer", "cxr-office": ["coordinator", "reviewer"]}',
}
ANNA = {"email": "anna@example.org", "email_verified": True, "groups": ["cxr-experts", "cafeteria"]}


@pytest.fixture(scope="module")
def provider():
    with oidc_provider_mock.run_server_in_thread() as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture(scope="module")
def app(provider, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory):
    """The app, with that provider in its secrets file."""
    home = tmp_path_factory.mktemp("workspace")
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    secrets = home.parent / f"{home.name}-secrets.toml"
    secrets.write_text(_SECRETS.format(issuer=provider), encoding="utf-8")
    log = home.parent / f"{home.name}.log"
    with running_app(home, log, arguments=["--secrets.files", str(secrets)], **_ROLES) as running:
        running.add_person("ada", Role.ADMIN)
        running.add_person("anna@example.org", Role.ADMIN)
        running.add_person("bert@example.org", Role.READER)
        yield running


@pytest.fixture
def client(app):
    with httpx.Client(
        base_url=app.url, follow_redirects=True, headers={"Accept": "text/html"}
    ) as http_client:
        yield http_client


def sign_in_through_provider(
    client: httpx.Client, provider: str, subject: str, **claims: object
) -> httpx.Response:
    """Press the button, identify oneself at the provider, and follow the redirect back to the app."""
    httpx.put(f"{provider}/users/{subject}", json=claims).raise_for_status()
    at_provider = client.get("/sign-in/provider", params={"name": "hospital"})
    assert str(at_provider.url).startswith(provider)
    return client.post(at_provider.url, data={"sub": subject})


def test_the_sign_in_page_has_a_button_for_the_provider(client):
    match = re.search(r'href="(/sign-in/provider[^"]*)">([^<]*)<', client.get("/sign-in").text)
    assert match
    assert match.groups() == ("/sign-in/provider?name=hospital", "Sign in with Hospital")


def test_person_whose_verified_address_has_an_account_is_signed_in(client, provider):
    response = sign_in_through_provider(client, provider, "anna", **ANNA)
    assert (response.status_code, response.url.path) == (200, "/")
    assert "overread" in client.cookies


def test_streamlits_own_cookie_of_the_person_is_removed(client, provider):
    sign_in_through_provider(client, provider, "anna", **ANNA)
    assert not [name for name in client.cookies if name.startswith("_streamlit_user")]


def test_address_without_an_account_is_refused_with_advice(client, provider):
    response = sign_in_through_provider(client, provider, "eve", email="eve@example.org", email_verified=True)
    assert response.status_code == 403
    assert "eve@example.org has no account. Ask an admin to add one" in response.text
    assert "overread" not in client.cookies


def test_unverified_address_is_refused(client, provider):
    response = sign_in_through_provider(
        client, provider, "mallory", email="anna@example.org", email_verified=False
    )
    assert response.status_code == 403
    assert "overread" not in client.cookies


def test_forged_cookie_with_an_answer_of_the_provider_is_refused(client):
    client.cookies["_streamlit_user"] = "forged"
    response = client.get("/sign-in")
    assert response.status_code == 403
    assert "answer has expired" in response.text


def test_provider_that_is_not_set_up_is_not_found(client):
    assert client.get("/sign-in/provider", params={"name": "elsewhere"}).status_code == 404


def load_roles(app: RunningApp, name: str) -> set[Role]:
    with read_only_session(app.engine) as db:
        return set(accounts.load_person_by_name(db, name=name).roles)


def test_the_claim_sets_the_roles_at_each_sign_in(app, client, provider):
    sign_in_through_provider(client, provider, "anna", **ANNA)
    assert load_roles(app, "anna@example.org") == {Role.REVIEWER}
    with httpx.Client(
        base_url=app.url, follow_redirects=True, headers={"Accept": "text/html"}
    ) as second_client:
        sign_in_through_provider(second_client, provider, "anna", **ANNA | {"groups": ["cxr-office"]})
    assert load_roles(app, "anna@example.org") == {Role.COORDINATOR, Role.REVIEWER}


def test_a_person_without_a_known_group_is_refused_with_the_name_of_the_claim(client, provider):
    bert = {"email": "bert@example.org", "email_verified": True, "groups": ["cafeteria"]}
    response = sign_in_through_provider(client, provider, "bert", **bert)
    assert response.status_code == 403
    assert "no role in Overread (claim &#x27;groups&#x27;)" in response.text
    assert "overread" not in client.cookies


@pytest.mark.browser
def test_provider_sign_in_has_the_claimed_roles_and_ends_at_the_click_after_revocation(
    app, provider, chromium
):
    httpx.put(f"{provider}/users/anna", json=ANNA).raise_for_status()
    context = chromium.new_context(base_url=app.url)
    page = context.new_page()
    page.goto("/")
    page.get_by_role("link", name="Sign in with Hospital").click()
    page.wait_for_url(f"{provider}/**")
    page.locator("input[name=sub]").fill("anna")
    page.get_by_role("button", name="Authorize").click()
    page.get_by_role("link", name="Review").wait_for(timeout=30_000)  # the claim's role, not her former one
    assert page.get_by_role("link", name="People").count() == 0
    page.get_by_role("link", name="My account").click()
    expect(page.get_by_text("by sign-in provider").first).to_be_visible()
    app.command("user", "sign-out", "anna@example.org")
    page.get_by_role("link", name="Home").click()
    page.get_by_role("link", name="Sign in with Hospital").wait_for()
    context.close()
