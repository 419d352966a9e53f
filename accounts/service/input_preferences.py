"""A person's own keys and mouse button, for the forms."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

from sqlmodel import Session

from domain.errors import InvalidValue
from domain.people import Person
from domain.shortcuts import (
    SHORTCUTS,
    InputPreferences,
    LeftButton,
    parse_key,
    preferences_from_plain,
    preferences_to_plain,
)
from storage.accounts import input_preferences as preference_storage


def load_input_preferences(db: Session, *, person: Person) -> InputPreferences:
    """Return the person's preferences; the defaults if there are none.

    A stored key is left out if its action no longer exists or if this version does not accept the key. An
    update therefore never locks anybody out of a form.
    """
    plain = preference_storage.find_input_preferences(db, person_id=person.id)
    if plain is None:
        return InputPreferences()
    try:
        return preferences_from_plain(plain)
    except InvalidValue:
        return _keep_valid_keys(plain)


def save_own_key(db: Session, *, person: Person, action: str, key: str, now: datetime) -> str:
    """Give an action another key; "" turns the shortcut off. Return the key in its stored spelling.

    Raises:
        InvalidValue: the key does not exist, is reserved, or belongs to another action of the same form.
    """
    parsed = parse_key(key)
    changed = load_input_preferences(db, person=person).with_key(action, parsed)
    _save(db, person, changed, now)
    return parsed


def save_left_button(db: Session, *, person: Person, left_button: LeftButton, now: datetime) -> None:
    """Choose what the left mouse button does on a radiograph."""
    _save(db, person, replace(load_input_preferences(db, person=person), left_button=left_button), now)


def reset_input_preferences(db: Session, *, person: Person) -> None:
    """Return to the default keys and mouse button."""
    preference_storage.delete_input_preferences(db, person_id=person.id)


def export_input_preferences(db: Session, *, person: Person) -> bytes:
    """Return the person's preferences as a JSON file."""
    plain = preferences_to_plain(load_input_preferences(db, person=person))
    return (json.dumps(plain, ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()


def import_input_preferences(db: Session, *, person: Person, content: bytes, now: datetime) -> int:
    """Replace the person's preferences with those of an exported file. Return the number of own keys.

    Raises:
        InvalidValue: the file is not valid; nothing is changed.
    """
    try:
        plain = json.loads(content)
    except ValueError as error:
        raise InvalidValue("file", f"is not valid JSON: {error}") from error
    preferences = preferences_from_plain(plain)
    _save(db, person, preferences, now)
    return len(preferences.keys)


def _save(db: Session, person: Person, preferences: InputPreferences, now: datetime) -> None:
    preference_storage.save_input_preferences(
        db, person_id=person.id, preferences=preferences_to_plain(preferences), now=now
    )


def _keep_valid_keys(plain: object) -> InputPreferences:
    """Return the stored preferences without the keys that this version does not accept."""
    preferences = InputPreferences()
    if not isinstance(plain, dict):
        return preferences
    if plain.get("leftButton") in list(LeftButton):
        preferences = replace(preferences, left_button=LeftButton(plain["leftButton"]))
    keys = plain.get("keys")
    for action, key in keys.items() if isinstance(keys, dict) else ():
        if action not in SHORTCUTS:
            continue
        try:
            preferences = preferences.with_key(action, parse_key(str(key)))
        except InvalidValue:
            continue
    return preferences
