"""The page People: admins manage accounts, and other people cannot open it."""

from datetime import UTC, datetime

import pytest

from accounts import service as accounts
from domain.people import Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text, skip_double_click_time

PEOPLE = "pages/people.py"


@pytest.fixture
def page(sign_in_as, run_page):
    """The page as an admin called ada sees it."""
    sign_in_as("ada", Role.ADMIN)
    page = run_page(PEOPLE)
    assert not page.exception
    return page


def load_person(name: str):
    with read_only_session() as db:
        return accounts.load_person_by_name(db, name=name)


def add_person(page, *, name: str, roles: list[Role], password: str = ""):
    page.text_input(key="add-person-0-name").input(name)
    page.multiselect(key="add-person-0-roles").set_value(roles)
    page.text_input(key="add-person-0-password").input(password)
    return next(button for button in page.button if button.label == "Add").click().run()


def test_a_person_is_added_with_roles_and_password(page):
    page = add_person(page, name="bert", roles=[Role.REVIEWER], password="a long password")
    assert "Added bert. Sign-in name: bert." in get_text(page)
    assert load_person("bert").roles == {Role.REVIEWER}


def test_missing_password_is_generated_and_shown(page):
    page = add_person(page, name="bert", roles=[Role.REVIEWER])
    password = get_text(page).split("Password (shown only once): ")[1].split("\n")[0]
    with read_only_session() as db:
        assert accounts.authenticate(db, name="bert", password=password).name == "bert"


def test_fields_are_cleared_after_adding_a_person(page):
    page = add_person(page, name="bert", roles=[Role.REVIEWER])
    assert page.text_input(key="add-person-1-name").value == ""


@pytest.mark.parametrize(
    ("name", "roles", "password", "expected_text"),
    [
        ("bert", [], "", "choose at least one"),
        ("Bert Smith", [Role.REVIEWER], "", "must have 1 to 64"),
        ("bert", [Role.REVIEWER], "short", "at least 10 characters"),
        ("ada", [Role.REVIEWER], "", "The sign-in name 'ada' is already in use"),
    ],
)
def test_invalid_input_is_reported_and_kept(page, name, roles, password, expected_text):
    page = add_person(page, name=name, roles=roles, password=password)
    assert expected_text in get_text(page)
    assert page.text_input(key="add-person-0-name").value == name
    with read_only_session() as db:
        assert len(accounts.list_people(db, by=accounts.command_line_person())) == 1


def test_roles_are_changed(page):
    add_person(page, name="bert", roles=[Role.REVIEWER])
    page.selectbox(key="person-to-change").set_value("bert").run()
    page.multiselect(key=f"roles-of-{load_person('bert').id}-reviewer-roles").set_value([Role.COORDINATOR])
    next(button for button in page.button if button.label == "Save roles").click().run()
    assert not page.exception
    assert load_person("bert").roles == {Role.COORDINATOR}


def test_a_person_is_disabled_and_enabled(page):
    add_person(page, name="bert", roles=[Role.REVIEWER])
    page.selectbox(key="person-to-change").set_value("bert").run()
    key = f"toggle-access-{load_person('bert').id}"
    page.button(key=key).click().run()
    assert load_person("bert").disabled_at is not None
    skip_double_click_time(page).button(key=key).click().run()
    assert load_person("bert").disabled_at is None


def test_a_person_is_signed_out_everywhere(page):
    add_person(page, name="bert", roles=[Role.REVIEWER])
    now = datetime.now(UTC)
    with unit_of_work() as db:
        accounts.start_sign_in(db, person=load_person("bert"), token="of-bert", previous_token=None, now=now)
    page.selectbox(key="person-to-change").set_value("bert").run()
    page.button(key=f"sign-out-{load_person('bert').id}").click().run()
    assert "bert is signed out everywhere (1 sign-in ended)." in get_text(page)
    with read_only_session() as db:
        assert accounts.find_valid_sign_in(db, token="of-bert", now=now) is None


def test_the_last_admin_is_not_disabled(page):
    page.selectbox(key="person-to-change").set_value("ada").run()
    page.button(key=f"toggle-access-{load_person('ada').id}").click().run()
    assert "the only admin" in get_text(page)
    assert load_person("ada").disabled_at is None


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.REVIEWER, Role.READER])
def test_page_is_not_found_for_other_roles(sign_in_as, run_page, role):
    sign_in_as("bert", role)
    assert get_text(run_page(PEOPLE)) == "Page not found."


def test_without_a_sign_in_only_a_message_is_shown(browser, run_page):
    assert get_text(run_page(PEOPLE)) == "You are signed out."
