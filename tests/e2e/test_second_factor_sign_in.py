"""The second step of signing in over HTTP: reload, two tabs, wrong, reused and guessed codes."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

import httpx
import pyotp
import pytest
from sqlalchemy import delete, update

from accounts import service as accounts
from domain.people import Role
from storage.rows.second_factors import SecondFactorRow
from storage.rows.sign_in_security import WrongPasswordRow
from storage.unit_of_work import unit_of_work
from tests.e2e.conftest import running_app
from tests.e2e.test_gate import load_form_token, post_sign_in

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
RECOVERY_CODE = "AAAA-BBBB-CCCC-DDDD"
_SHOWN_CODE = re.compile(r"<li>([A-Z2-9-]{19})</li>")


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """An app whose admins need a code."""
    folder = tmp_path_factory.mktemp("second-step")
    with running_app(folder / "home", folder / "log", OVERREAD_SECOND_FACTOR_ROLES="admin") as app:
        for name, role in (("ada", Role.ADMIN), ("carl", Role.COORDINATOR), ("rosa", Role.REVIEWER)):
            app.add_person(name, role)
        app.add_person("alan", Role.ADMIN)
        yield app


@pytest.fixture(autouse=True)
def carl_has_an_authenticator_app(app):
    with unit_of_work(app.engine) as db:
        db.execute(delete(WrongPasswordRow))
        carl = accounts.load_person_by_name(db, name="carl")
        status = accounts.load_second_factor_status(db, person=carl, policy=accounts.SignInPolicy())
        if not status.is_on:
            earlier = datetime.now(UTC) - timedelta(minutes=5)
            accounts.begin_setup(db, person=carl, new_secret=SECRET, now=earlier)
            accounts.confirm_setup(
                db, person=carl, token=None, code=pyotp.TOTP(SECRET).at(earlier),
                new_recovery_codes=[RECOVERY_CODE], now=earlier,
            )  # fmt: skip
        db.execute(update(SecondFactorRow).values(last_step=0))


@pytest.fixture
def client(app):
    with httpx.Client(base_url=app.url) as http_client:
        yield http_client


def post_code(client: httpx.Client, code: str) -> httpx.Response:
    return client.post("/sign-in/code", data={"form_token": client.cookies["overread-form"], "code": code})


def is_signed_in(client: httpx.Client) -> bool:
    return client.get("/_stcore/metrics").status_code == 404  # 401 without a sign-in


def test_the_password_leads_to_the_code_form_and_the_code_signs_in(client):
    response = post_sign_in(client, "carl")
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in/code")
    assert "overread" not in client.cookies
    assert not is_signed_in(client)
    assert "Code of your authenticator app" in client.get("/sign-in/code").text
    response = post_code(client, pyotp.TOTP(SECRET).now())
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert is_signed_in(client)
    assert "overread-step" not in client.cookies


def test_person_who_needs_no_second_factor_signs_in_with_the_password_only(client):
    response = post_sign_in(client, "rosa")
    assert response.headers["location"] == "/"
    assert is_signed_in(client)


def test_the_code_form_is_shown_again_after_a_wrong_code_and_after_a_reload(client):
    post_sign_in(client, "carl")
    response = post_code(client, "123")
    assert response.status_code == 401
    assert "The code is wrong" in response.text
    assert client.get("/sign-in/code").status_code == 200
    assert not is_signed_in(client)
    post_code(client, pyotp.TOTP(SECRET).now())
    assert is_signed_in(client)


def test_the_same_code_does_not_sign_in_twice(app, client):
    code = pyotp.TOTP(SECRET).now()
    post_sign_in(client, "carl")
    assert post_code(client, code).status_code == 303
    with httpx.Client(base_url=app.url) as thief:
        post_sign_in(thief, "carl")
        response = post_code(thief, code)
        assert response.status_code == 401
        assert "already used" in response.text
        assert not is_signed_in(thief)


def test_second_tab_is_redirected_home_once_the_first_tab_has_signed_in(client):
    post_sign_in(client, "carl")
    token = client.cookies["overread-form"]
    step = client.cookies["overread-step"]
    assert post_code(client, pyotp.TOTP(SECRET).now()).status_code == 303
    client.cookies.set("overread-step", step)
    second_response = client.post("/sign-in/code", data={"form_token": token, "code": "000000"})
    assert (second_response.status_code, second_response.headers["location"]) == (303, "/")
    assert client.get("/sign-in/code").headers["location"] == "/"


def test_code_page_before_the_password_redirects_to_the_sign_in_page(client):
    assert client.get("/sign-in/code").headers["location"] == "/sign-in"
    client.get("/sign-in")
    response = post_code(client, pyotp.TOTP(SECRET).now())
    assert response.headers["location"] == "/sign-in"
    assert not is_signed_in(client)


def test_code_with_a_forged_form_token_is_refused(client):
    post_sign_in(client, "carl")
    response = client.post("/sign-in/code", data={"form_token": "forged", "code": pyotp.TOTP(SECRET).now()})
    assert response.status_code == 403
    assert not is_signed_in(client)


def test_many_wrong_codes_delay_the_next_attempt_in_every_browser(app, client):
    post_sign_in(client, "carl")
    with httpx.Client(base_url=app.url) as elsewhere:
        # Before the wrong codes: hashing the password may take as long as their wait of 4 s.
        post_sign_in(elsewhere, "carl")
        assert [post_code(client, f"{number}").status_code for number in range(6)] == [401] * 5 + [429]
        response = post_code(elsewhere, pyotp.TOTP(SECRET).now())
        assert response.status_code == 429
        assert "Too many wrong codes" in response.text


def test_a_recovery_code_signs_in(client):
    post_sign_in(client, "carl")
    assert post_code(client, RECOVERY_CODE.lower()).status_code == 303
    assert is_signed_in(client)


def test_an_admin_sets_up_an_authenticator_app_at_sign_in_and_gets_recovery_codes(app, client):
    post_sign_in(client, "ada")
    page = client.get("/sign-in/code").text
    assert "data:image/svg+xml;base64," in page
    secret = re.search(r"<code>([A-Z2-7 ]+)</code>", page)
    assert secret
    assert secret[1] in client.get("/sign-in/code").text  # a reload shows the same secret
    assert not is_signed_in(client)
    response = post_code(client, pyotp.TOTP(secret[1].replace(" ", "")).now())
    codes = _SHOWN_CODE.findall(response.text)
    assert len(codes) == 10
    assert is_signed_in(client)
    with httpx.Client(base_url=app.url) as elsewhere:
        post_sign_in(elsewhere, "ada")
        assert "QR code" not in elsewhere.get("/sign-in/code").text
        assert post_code(elsewhere, codes[3]).status_code == 303


def test_a_sign_in_without_a_code_ends_when_the_role_requires_one(app, client):
    app.add_person("zoe", Role.REVIEWER)
    post_sign_in(client, "zoe")
    assert is_signed_in(client)
    app.command("user", "roles", "zoe", "--role", "admin")
    assert not is_signed_in(client)
    assert post_sign_in(client, "zoe").headers["location"] == "/sign-in/code"


def test_a_command_removes_the_second_factor(app, client):
    assert "no longer has an authenticator app" in app.command("user", "reset-second-factor", "carl")
    assert post_sign_in(client, "carl").headers["location"] == "/"


def test_no_code_or_secret_is_in_the_log(app, client):
    post_sign_in(client, "carl")
    code = pyotp.TOTP(SECRET).now()
    post_code(client, code)
    time.sleep(0.2)
    log = (app.home.parent / "log").read_text()
    assert "/sign-in/code" in log
    assert code not in re.sub(r"time=\S+", "", log)
    assert SECRET not in log


def test_the_token_of_the_form_equals_its_cookie(client):
    assert load_form_token(client) == client.cookies["overread-form"]
