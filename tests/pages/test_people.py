"""The page People: accounts on screen, and closed to everybody but admins."""

from datetime import UTC, datetime

import pytest

from accounts import service as accounts
from domain.people import Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import a_moment_later, texts

PEOPLE = "pages/people.py"


@pytest.fixture
def page(sign_in_as, run_page):
    """The page as an admin called ada sees it."""
    sign_in_as("ada", Role.ADMIN)
    found = run_page(PEOPLE)
    assert not found.exception
    return found


def person(name: str):
    with read_only_session() as db:
        return accounts.load_person_by_name(db, name=name)


def add(page, *, name: str, roles: list[Role], password: str = ""):
    page.text_input(key="add-person-0-name").input(name)
    page.multiselect(key="add-person-0-roles").set_value(roles)
    page.text_input(key="add-person-0-password").input(password)
    return next(button for button in page.button if button.label == "Add").click().run()


def test_a_person_is_added_with_roles_and_password(page):
    page = add(page, name="bert", roles=[Role.REVIEWER], password="a long password")
    assert "bert can sign in as bert." in texts(page)
    assert person("bert").roles == {Role.REVIEWER}


def test_without_a_password_one_is_made_and_shown(page):
    page = add(page, name="bert", roles=[Role.REVIEWER])
    shown = texts(page).split("Password, shown this once: ")[1].split("\n")[0]
    with read_only_session() as db:
        assert accounts.authenticate(db, name="bert", password=shown).name == "bert"


def test_after_a_success_the_fields_are_empty_again(page):
    page = add(page, name="bert", roles=[Role.REVIEWER])
    assert page.text_input(key="add-person-1-name").value == ""


@pytest.mark.parametrize(
    ("name", "roles", "password", "said"),
    [
        ("bert", [], "", "choose at least one"),
        ("Bert Smith", [Role.REVIEWER], "", "must have 1 to 64"),
        ("bert", [Role.REVIEWER], "short", "at least 10 characters"),
        ("ada", [Role.REVIEWER], "", "Somebody is called 'ada' already"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(page, name, roles, password, said):
    page = add(page, name=name, roles=roles, password=password)
    assert said in texts(page)
    assert page.text_input(key="add-person-0-name").value == name
    with read_only_session() as db:
        assert len(accounts.list_people(db, by=accounts.command_line_person())) == 1


def test_roles_are_changed(page, sign_in_as, browser, run_page):
    add(page, name="bert", roles=[Role.REVIEWER])
    page.selectbox(key="person-to-change").set_value("bert").run()
    page.multiselect(key=f"roles-of-{person('bert').id}-reviewer-roles").set_value([Role.COORDINATOR])
    next(button for button in page.button if button.label == "Save roles").click().run()
    assert not page.exception
    assert person("bert").roles == {Role.COORDINATOR}


def test_a_person_is_disabled_and_enabled(page):
    add(page, name="bert", roles=[Role.REVIEWER])
    page.selectbox(key="person-to-change").set_value("bert").run()
    key = f"in-or-out-{person('bert').id}"
    page.button(key=key).click().run()
    assert person("bert").disabled_at is not None
    a_moment_later(page).button(key=key).click().run()
    assert person("bert").disabled_at is None


def test_a_person_is_signed_out_everywhere(page):
    add(page, name="bert", roles=[Role.REVIEWER])
    now = datetime.now(UTC)
    with unit_of_work() as db:
        accounts.start_sign_in(db, person=person("bert"), token="of-bert", previous_token=None, now=now)
    page.selectbox(key="person-to-change").set_value("bert").run()
    page.button(key=f"sign-out-{person('bert').id}").click().run()
    assert "bert is signed out everywhere: 1 sign-in ended." in texts(page)
    with read_only_session() as db:
        assert accounts.find_valid_sign_in(db, token="of-bert", now=now) is None


def test_the_last_admin_is_not_disabled(page):
    page.selectbox(key="person-to-change").set_value("ada").run()
    page.button(key=f"in-or-out-{person('ada').id}").click().run()
    assert "nobody else is an admin" in texts(page)
    assert person("ada").disabled_at is None


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.REVIEWER, Role.READER])
def test_nobody_else_sees_any_of_it(sign_in_as, run_page, role):
    sign_in_as("bert", role)
    assert texts(run_page(PEOPLE)) == "Page not found."


def test_without_a_sign_in_nothing_is_shown(browser, run_page):
    assert texts(run_page(PEOPLE)) == "You are signed out. Reload the page to sign in."
