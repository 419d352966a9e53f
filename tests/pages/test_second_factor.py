"""My account and People: setting up and turning off an authenticator app, recovery codes, reset."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pyotp
import pytest

from accounts import service as accounts
from domain.people import Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import COMMAND_LINE, get_text, skip_double_click_time

PASSWORD = "a password of hers"
FORM_KEY = "own-second-factor-{}"


@pytest.fixture
def anna(sign_in_as):
    with unit_of_work() as db:
        accounts.add_person(
            db, by=COMMAND_LINE, name="anna", display_name="Anna", roles=[Role.ADMIN], password=PASSWORD,
            now=datetime.now(UTC),
        )  # fmt: skip
    return sign_in_as("anna")


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def has_second_factor(person) -> bool:
    with read_only_session() as db:
        return accounts.load_second_factor_status(db, person=person, policy=accounts.SignInPolicy()).is_on


def set_up(page, *, password=PASSWORD, code=None, form=0):
    page = click(page, "Set up")
    secret = page.code[0].value.replace(" ", "")
    page.text_input(key=f"{FORM_KEY.format(form)}-password").input(password)
    page.text_input(key=f"{FORM_KEY.format(form)}-code").input(code or pyotp.TOTP(secret).now())
    return click(page, "Turn on")


def test_setting_up_the_app_shows_ten_recovery_codes_once(anna, run_page):
    page = set_up(run_page("pages/account.py"))
    assert has_second_factor(anna)
    text = get_text(page)
    assert len(set(re.findall(r"[A-Z2-9]{4}(?:-[A-Z2-9]{4}){3}", text))) == 10
    assert "On. 10 recovery codes left." in text


def test_the_app_is_not_turned_on_with_a_wrong_password_or_code(anna, run_page):
    page = set_up(run_page("pages/account.py"), password="a wrong guess")
    assert "The current password is wrong" in get_text(page)
    assert not has_second_factor(anna)
    page = skip_double_click_time(page)
    page.text_input(key=f"{FORM_KEY.format(0)}-password").input(PASSWORD)
    page.text_input(key=f"{FORM_KEY.format(0)}-code").input("12")
    page = click(page, "Turn on")
    assert "The code is wrong" in get_text(page)
    assert not has_second_factor(anna)


def test_the_app_can_be_turned_off_with_the_password(anna, run_page):
    page = skip_double_click_time(set_up(run_page("pages/account.py")))
    page.text_input(key=f"{FORM_KEY.format(1)}-password").input(PASSWORD)
    page = click(page, "Turn off")
    assert "The authenticator app is off" in get_text(page)
    assert not has_second_factor(anna)


@pytest.mark.usefixtures("anna")
def test_a_person_whose_role_requires_a_code_cannot_turn_the_app_off(run_page, sign_in_as, monkeypatch):
    set_up(run_page("pages/account.py"))
    monkeypatch.setenv("OVERREAD_SECOND_FACTOR_ROLES", "admin")
    sign_in_as("anna", method="password and code")
    page = run_page("pages/account.py")
    assert [button.disabled for button in page.button if button.label == "Turn off"] == [True]


def test_an_admin_resets_the_app_of_a_person(anna, sign_in_as, run_page):
    set_up(run_page("pages/account.py"))
    sign_in_as("otto", Role.ADMIN)
    page = run_page("pages/people.py")
    page = page.selectbox(key="person-to-change").set_value("anna").run()
    page = click(page, "Reset authenticator app")
    assert "signs in without a code" in get_text(page)
    assert not has_second_factor(anna)
