"""Adds the person's own keys and mouse button to the data of a form."""

from __future__ import annotations

from typing import Any

from accounts.service import load_input_preferences
from domain.people import Person
from domain.shortcuts import preferences_to_plain
from ui.context import read_only_session


def add_preferences(data: dict[str, Any], person: Person) -> dict[str, Any]:
    """Return the data with the person's preferences added.

    The form keeps the preferences for the questions that it loads itself.
    """
    with read_only_session() as db:
        preferences = load_input_preferences(db, person=person)
    return {**data, "preferences": preferences_to_plain(preferences)}
