"""A person's own keys and mouse button in the database."""

import json
from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from accounts import service as accounts
from domain.errors import InvalidValue
from domain.people import Role
from domain.shortcuts import InputPreferences, LeftButton
from storage.rows.people import InputPreferencesRow
from storage.unit_of_work import read_only_session, unit_of_work

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def people(engine):
    with unit_of_work(engine) as db:
        return [
            accounts.add_person(
                db,
                by=accounts.command_line_person(),
                name=name,
                display_name=name.title(),
                roles=[Role.REVIEWER],
                password="a long password",
                now=NOW,
            )
            for name in ("ruth", "remo")
        ]


def load(engine, person) -> InputPreferences:
    with read_only_session(engine) as db:
        return accounts.load_input_preferences(db, person=person)


def save_key(engine, person, action, key):
    with unit_of_work(engine) as db:
        return accounts.save_own_key(db, person=person, action=action, key=key, now=NOW)


def test_keys_and_mouse_button_belong_to_one_person(engine, people):
    ruth, remo = people
    assert save_key(engine, ruth, "accept", "shift j") == "Shift+J"
    with unit_of_work(engine) as db:
        accounts.save_left_button(db, person=ruth, left_button=LeftButton.WINDOW, now=NOW)
    assert load(engine, ruth) == InputPreferences(keys={"accept": "Shift+J"}, left_button=LeftButton.WINDOW)
    assert load(engine, remo) == InputPreferences()


def test_a_conflicting_key_is_refused_and_changes_nothing(engine, people):
    ruth = people[0]
    save_key(engine, ruth, "accept", "Shift+J")
    with pytest.raises(InvalidValue, match="is the key of “reject the question”"):
        save_key(engine, ruth, "accept", "x")
    assert load(engine, ruth).keys == {"accept": "Shift+J"}


def test_reset_returns_to_the_defaults(engine, people):
    save_key(engine, people[0], "accept", "Shift+J")
    with unit_of_work(engine) as db:
        accounts.reset_input_preferences(db, person=people[0])
    assert load(engine, people[0]) == InputPreferences()


def test_an_exported_file_is_imported_by_another_person(engine, people):
    ruth, remo = people
    save_key(engine, ruth, "guideline", "")
    save_key(engine, remo, "accept", "Shift+J")
    with read_only_session(engine) as db:
        content = accounts.export_input_preferences(db, person=ruth)
    with unit_of_work(engine) as db:
        assert accounts.import_input_preferences(db, person=remo, content=content, now=NOW) == 1
    assert load(engine, remo) == load(engine, ruth) == InputPreferences(keys={"guideline": ""})


@pytest.mark.parametrize("content", [b"", b"{", b'{"keys": {"accept": "X"}, "leftButton": "boxes"}', b"\xff"])
def test_an_invalid_file_changes_nothing(engine, people, content):
    save_key(engine, people[0], "accept", "Shift+J")
    with pytest.raises(InvalidValue), unit_of_work(engine) as db:
        accounts.import_input_preferences(db, person=people[0], content=content, now=NOW)
    assert load(engine, people[0]).keys == {"accept": "Shift+J"}


def test_stored_keys_that_a_newer_version_refuses_are_left_out(engine, people):
    save_key(engine, people[0], "accept", "Shift+J")
    stored_preferences = json.dumps(
        {"keys": {"accept": "Shift+J", "gone": "G", "reject": "A"}, "leftButton": "pan"}
    )
    with unit_of_work(engine) as db:
        db.execute(update(InputPreferencesRow).values(preferences=stored_preferences))
    # "accept" no longer uses the key A, so "reject" can have it
    assert load(engine, people[0]) == InputPreferences(
        keys={"accept": "Shift+J", "reject": "A"}, left_button=LeftButton.PAN
    )
