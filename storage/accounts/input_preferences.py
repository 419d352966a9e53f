"""Storage of a person's own keys and mouse button."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete
from sqlmodel import Session, col

from records.values import from_json, to_json
from storage.rows.people import InputPreferencesRow


def find_input_preferences(db: Session, *, person_id: int) -> object | None:
    """Return the stored preferences as plain values; None if the person has stored none."""
    row = db.get(InputPreferencesRow, person_id)
    return None if row is None else from_json(row.preferences)


def save_input_preferences(db: Session, *, person_id: int, preferences: object, now: datetime) -> None:
    """Store the preferences in place of the person's previous ones."""
    db.merge(InputPreferencesRow(person_id=person_id, preferences=to_json(preferences), changed_at=now))
    db.flush()


def delete_input_preferences(db: Session, *, person_id: int) -> None:
    """Delete the person's preferences: the defaults apply again."""
    db.execute(delete(InputPreferencesRow).where(col(InputPreferencesRow.person_id) == person_id))
