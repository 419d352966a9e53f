"""The audit trail: who did what, when and why, in the transaction of the deed itself."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from domain.audit import canonical
from domain.people import Person
from storage.audit.trail import Unchained, add_entry, last_entry_of


def record(  # allow writes-without-record: it is what puts on record
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
    """Put on record what the calling service does; it asks for no action, the service has asked for its own.

    Args:
        db: whose transaction both belong to: the one is never kept without the other.
        by: who does it; the command line is kept as nobody's number.
        what: a short verb phrase, "give verdict".
        subject: what it is done to, "batch 3 question 17": kinds and numbers, no text of a question.
        old: plain values as they were before; None where there was nothing.
        new: plain values as they are now.
        why: the person's own reason, where one is asked for.
        now: when.

    Raises:
        TypeError: ``old`` or ``new`` has no plain form.
    """
    add_entry(
        db,
        Unchained(
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


def last_deed(db: Session, *, by: Person, since: datetime) -> datetime | None:
    """When the person's newest entry was made, if that is not before ``since``: their write is there."""
    return last_entry_of(db, person_name=by.name, since=since)
