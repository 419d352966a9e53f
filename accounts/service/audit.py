"""Writes the audit trail: who did what, when and why, in the same transaction as the action."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from domain.audit import canonical
from domain.people import Person
from storage.audit.trail import PendingEntry, add_entry, find_last_entry_time


def record_action(  # allow writes-without-record: this function writes the record
    db: Session,
    *,
    by: Person,
    action: str,
    subject: str,
    old: object = None,
    new: object = None,
    reason: str = "",
    now: datetime,
) -> None:
    """Add an audit entry for an action. The service that performs the action checks the permission.

    Args:
        db: the session of the action, so that action and entry are in one transaction.
        by: the person who acts; the command line is stored without a person id.
        action: the action as a short verb phrase, such as "give verdict".
        subject: the object of the action as kinds and ids, such as "batch 3 question 17"; never patient data.
        old: the previous values, in a form that :func:`domain.audit.canonical` accepts; None if there were
            none.
        new: the new values, in the same form.
        reason: the person's reason, if one was given.
        now: the current time.

    Raises:
        TypeError: ``old`` or ``new`` has a value that can't be written as JSON.
        ValueError: ``old`` or ``new`` contains NaN or infinity.
    """
    add_entry(
        db,
        PendingEntry(
            at=now,
            person_id=by.id or None,
            person_name=by.name,
            action=action,
            subject=subject,
            old=None if old is None else canonical(old),
            new=None if new is None else canonical(new),
            reason=reason,
        ),
    )


def last_write_at(db: Session, *, by: Person, since: datetime) -> datetime | None:
    """Return the time of the person's newest entry; None if there is none since ``since``.

    Use this to determine whether a write was saved although its response was lost.
    """
    return find_last_entry_time(db, person_name=by.name, since=since)
