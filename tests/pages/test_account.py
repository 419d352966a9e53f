"""My account: a person's own sign-ins and password, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from accounts import service as accounts
from domain.errors import NotSignedIn
from domain.people import Person, Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import COMMAND_LINE, a_moment_later, texts

ACCOUNT = "pages/account.py"
OLD, NEW = "the password before", "the password after"


def begin(person: Person, token: str, browser: str) -> None:
    with unit_of_work() as db:
        accounts.start_sign_in(
            db, person=person, token=token, previous_token=None, browser=browser, now=datetime.now(UTC)
        )


def holds(token: str) -> bool:
    with read_only_session() as db:
        return accounts.find_valid_sign_in(db, token=token, now=datetime.now(UTC)) is not None


def right(name: str, password: str) -> bool:
    with read_only_session() as db:
        try:
            return accounts.authenticate(db, name=name, password=password).name == name
        except NotSignedIn:
            return False


@pytest.fixture
def anna(sign_in_as) -> Person:
    """Anna is signed in here and in two other places; bert is signed in elsewhere too."""
    begin(sign_in_as("bert", Role.READER), "of-bert", "Safari on Mac")
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
    begin(person, "at-home", "Firefox on Linux")
    begin(person, "at-work", "Edge on Windows")
    return person


@pytest.fixture
def page(anna, run_page):
    found = run_page(ACCOUNT)
    assert not found.exception
    return found


def change(page, *, current: str, new: str, again: str | None = None):
    page.text_input(key="own-password-0-current").input(current)
    page.text_input(key="own-password-0-new").input(new)
    page.text_input(key="own-password-0-again").input(new if again is None else again)
    return next(button for button in page.button if button.label == "Change password").click().run()


def test_ones_own_live_sign_ins_are_listed_and_nobody_elses(page):
    shown = texts(page)
    assert "Firefox on Linux" in shown
    assert "Edge on Windows" in shown
    assert "this browser" in shown
    assert "Safari on Mac" not in shown


def test_one_of_them_is_ended(page):
    mark = accounts.token_sha256("at-work")[:16]
    page.button(key=f"end-{mark}").click().run()
    assert (holds("at-work"), holds("at-home"), holds("of-bert")) == (False, True, True)


def test_all_others_are_ended_and_this_one_stays(page):
    page = page.button(key="sign-out-elsewhere").click().run()
    assert (holds("at-work"), holds("at-home"), holds("token-of-anna")) == (False, False, True)
    assert holds("of-bert")
    assert "Signed out elsewhere: 2 sign-ins ended." in texts(page)


def test_ones_own_password_is_changed_and_other_browsers_are_out(page):
    page = change(page, current=OLD, new=NEW)
    assert "Your password is changed." in texts(page)
    assert right("anna", NEW)
    assert (holds("at-work"), holds("token-of-anna")) == (False, True)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"current": "not hers", "new": NEW}, "The current password is not right"),
        ({"current": OLD, "new": "short"}, "at least 10 characters"),
        ({"current": OLD, "new": NEW, "again": "something else"}, "the two are not the same"),
    ],
)
def test_what_is_wrong_is_said_and_the_old_password_stays(page, fields, said):
    assert said in texts(change(page, **fields))
    assert right("anna", OLD)
    assert holds("at-work")


def test_guesses_at_an_open_browser_have_to_wait(page):
    for number in range(5):
        change(page, current=f"guess number {number}", new=NEW)
        a_moment_later(page)
    assert "Too many wrong passwords" in texts(change(page, current=OLD, new=NEW))
    assert right("anna", OLD)


def test_people_who_come_by_a_provider_have_no_password_here(sign_in_as, run_page):
    sign_in_as("cara", Role.READER)
    page = run_page(ACCOUNT)
    assert "You sign in by a provider" in texts(page)
    assert not page.text_input


def test_without_a_sign_in_nothing_is_shown(browser, run_page):
    assert texts(run_page(ACCOUNT)) == "You are signed out. Reload the page to sign in."
