"""My account: own keys, the left mouse button, reset and import."""

import json

import pytest

from accounts import service as accounts
from domain.people import Role
from domain.shortcuts import InputPreferences, LeftButton
from storage.unit_of_work import read_only_session
from tests.pages.conftest import get_text

ACCOUNT = "pages/account.py"


@pytest.fixture
def ruth(sign_in_as):
    return sign_in_as("ruth", Role.REVIEWER)


@pytest.fixture
def page(ruth, run_page):
    page = run_page(ACCOUNT)
    assert not page.exception
    return page


def load_preferences(person) -> InputPreferences:
    with read_only_session() as db:
        return accounts.load_input_preferences(db, person=person)


def open_group(page, group):
    return (
        next(control for control in page.segmented_control if group in control.options).set_value(group).run()
    )


def find_key_field(page, label):
    return next(field for field in page.text_input if field.label == f"Key for: {label}")


def test_a_changed_key_is_saved_and_shown_in_standard_notation(page, ruth):
    page = open_group(page, "Decisions")
    page = find_key_field(page, "accept and continue").input("shift j").run()
    assert load_preferences(ruth).keys == {"accept": "Shift+J"}
    assert find_key_field(page, "accept and continue").value == "Shift+J"
    assert "Saved: Shift+J" in get_text(page)


def test_a_conflict_is_refused_beside_the_field_and_the_typed_key_stays(page, ruth):
    page = open_group(page, "Decisions")
    page = find_key_field(page, "accept and continue").input("x").run()
    assert "is the key of “reject the question”; choose another key or change that one first" in get_text(
        page
    )
    assert find_key_field(page, "accept and continue").value == "x"
    assert load_preferences(ruth) == InputPreferences()


def test_the_left_mouse_button_can_be_chosen_and_all_settings_can_be_reset(page, ruth):
    page = (
        next(radio for radio in page.radio if "left mouse" in radio.label).set_value(LeftButton.WINDOW).run()
    )
    assert load_preferences(ruth).left_button is LeftButton.WINDOW
    page = next(button for button in page.button if button.label == "Reset to defaults").click().run()
    assert load_preferences(ruth) == InputPreferences()
    assert next(button for button in page.button if button.label == "Reset to defaults").disabled


def test_preferences_are_imported_from_a_file(page, ruth):
    content = json.dumps({"keys": {"accept": "Shift+J"}, "leftButton": "pan"}).encode()
    page = page.file_uploader[0].set_value(("keys.json", content, "application/json")).run()
    page = next(button for button in page.button if button.label == "Import").click().run()
    assert load_preferences(ruth) == InputPreferences(keys={"accept": "Shift+J"}, left_button=LeftButton.PAN)
    assert "Imported: 1 own key." in get_text(page)
