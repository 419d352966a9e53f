"""Writes the audit trail: who did what, when and why, in the transaction of the action itself."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from domain.audit import canonical
from domain.people import Person
from storage.audit.trail import PendingEntry, add_entry, find_last_entry_time


def record(  # allow writes-without-record: this function writes the record
    db: Session,
    *,
    by: Person,
    what: str,
    subject: str,
    old: object = None,
    new: object = None,
    why: str = "",
    now: datetime,
) -> None:
    """Add an audit entry for what the calling service does; permission was checked by that service.

    Args:
        db: the session of the action, so that action and entry are in one transaction.
        by: who acts; the command line is stored without a person's number.
        what: a short verb phrase, "give verdict".
        subject: what it is done to, "batch 3 question 17": kinds and numbers, no text of a question.
        old: values before, as for :func:`domain.audit.canonical`; None if there was nothing.
        new: values now.
        why: the person's reason, if one was given.
        now: the time.

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
            what=what,
            subject=subject,
            old=None if old is None else canonical(old),
            new=None if new is None else canonical(new),
            why=why,
        ),
    )


def last_write_at(db: Session, *, by: Person, since: datetime) -> datetime | None:
    """The time of the person's newest entry; None if it is before ``since``.

    Use it to determine whether a write was saved although its response was lost.
    """
    return find_last_entry_time(db, person_name=by.name, since=since)
