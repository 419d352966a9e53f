"""My account: a person's own sign-ins and password, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from accounts import service as accounts
from domain.errors import NotSignedIn
from domain.people import Person, Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import COMMAND_LINE, get_text, skip_double_click_time

ACCOUNT = "pages/account.py"
OLD, NEW = "the password before", "the password after"


def add_sign_in(person: Person, token: str, browser: str) -> None:
    with unit_of_work() as db:
        accounts.start_sign_in(
            db, person=person, token=token, previous_token=None, browser=browser, now=datetime.now(UTC)
        )


def is_signed_in(token: str) -> bool:
    with read_only_session() as db:
        return accounts.find_valid_sign_in(db, token=token, now=datetime.now(UTC)) is not None


def can_authenticate(name: str, password: str) -> bool:
    with read_only_session() as db:
        try:
            return accounts.authenticate(db, name=name, password=password).name == name
        except NotSignedIn:
            return False


@pytest.fixture
def anna(sign_in_as) -> Person:
    """Anna is signed in here and in two other places; bert is signed in elsewhere too."""
    add_sign_in(sign_in_as("bert", Role.READER), "of-bert", "Safari on Mac")
    with unit_of_work() as db:
        accounts.add_person(
            db,
            by=COMMAND_LINE,
            name="anna",
            display_name="Anna",
            roles=[Role.REVIEWER],
            password=OLD,
            now=datetime.now(UTC),
        )
    person = sign_in_as("anna")
    add_sign_in(person, "at-home", "Firefox on Linux")
    add_sign_in(person, "at-work", "Edge on Windows")
    return person


@pytest.fixture
def page(anna, run_page):
    page = run_page(ACCOUNT)
    assert not page.exception
    return page


def change_password(page, *, current: str, new: str, again: str | None = None):
    page.text_input(key="own-password-0-current").input(current)
    page.text_input(key="own-password-0-new").input(new)
    page.text_input(key="own-password-0-again").input(new if again is None else again)
    return next(button for button in page.button if button.label == "Change password").click().run()


def test_page_lists_only_the_persons_own_active_sign_ins(page):
    text = get_text(page)
    assert "Firefox on Linux" in text
    assert "Edge on Windows" in text
    assert "this browser" in text
    assert "Safari on Mac" not in text


def test_one_sign_in_can_be_ended(page):
    token_hash = accounts.token_sha256("at-work")[:16]
    page.button(key=f"end-{token_hash}").click().run()
    assert (is_signed_in("at-work"), is_signed_in("at-home"), is_signed_in("of-bert")) == (False, True, True)


def test_all_other_sign_ins_can_be_ended(page):
    page = page.button(key="sign-out-elsewhere").click().run()
    assert (is_signed_in("at-work"), is_signed_in("at-home"), is_signed_in("token-of-anna")) == (
        False,
        False,
        True,
    )
    assert is_signed_in("of-bert")
    assert "Signed out elsewhere (2 sign-ins ended)." in get_text(page)


def test_changing_the_password_ends_other_sign_ins(page):
    page = change_password(page, current=OLD, new=NEW)
    assert "Your password is changed." in get_text(page)
    assert can_authenticate("anna", NEW)
    assert (is_signed_in("at-work"), is_signed_in("token-of-anna")) == (False, True)


@pytest.mark.parametrize(
    ("fields", "expected_text"),
    [
        ({"current": "not hers", "new": NEW}, "The current password is wrong"),
        ({"current": OLD, "new": "short"}, "at least 10 characters"),
        ({"current": OLD, "new": NEW, "again": "something else"}, "the two entries differ"),
    ],
)
def test_invalid_new_password_is_reported_and_not_saved(page, fields, expected_text):
    assert expected_text in get_text(change_password(page, **fields))
    assert can_authenticate("anna", OLD)
    assert is_signed_in("at-work")


def test_repeated_wrong_passwords_are_rate_limited(page):
    for number in range(5):
        change_password(page, current=f"guess number {number}", new=NEW)
        skip_double_click_time(page)
    assert "Too many wrong passwords" in get_text(change_password(page, current=OLD, new=NEW))
    assert can_authenticate("anna", OLD)


def test_person_with_provider_sign_in_has_no_password_form(sign_in_as, run_page):
    sign_in_as("cara", Role.READER)
    page = run_page(ACCOUNT)
    assert "You sign in with a provider" in get_text(page)
    assert [field.label for field in page.text_input if "password" in field.label.lower()] == []


def test_without_a_sign_in_nothing_is_shown(browser, run_page):
    assert get_text(run_page(ACCOUNT)) == "You are signed out."
