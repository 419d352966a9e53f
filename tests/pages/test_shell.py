"""The shell: navigation by role, and no page for people who are not signed in."""

from domain.people import Role
from tests.pages.conftest import get_text


def test_a_person_sees_their_name_and_roles(sign_in_as, open_page):
    sign_in_as("anna", Role.REVIEWER)
    page = open_page("pages/home.py")
    assert not page.exception
    assert "Anna" in get_text(page)
    assert "reviewer" in get_text(page)


def test_without_a_sign_in_only_a_message_is_shown(workspace, open_page):
    page = open_page("pages/home.py")
    assert not page.exception
    assert get_text(page) == "You are signed out."
