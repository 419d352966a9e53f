"""The audit trail: entries wait in the session and are chained in when its transaction is committed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import event, insert, select, text
from sqlalchemy.orm import Session as AnySession
from sqlalchemy.orm import SessionTransaction
from sqlmodel import Session

from domain.audit import NO_ENTRY, entry_hash
from storage.rows import AuditRow

#: What the first entry says where judgements were there before the trail.
BEGINS = "begin audit trail"

_WAITING = "audit entries"  # their place in ``Session.info``
#: The chain has one writer at a time. The number is nobody else's; it says "audit" in ASCII.
_CHAIN_LOCK = 0x6175646974


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchained:
    """An entry that has no place in the chain yet; see :class:`domain.audit.AuditEntry`."""

    at: datetime
    person_id: int | None
    person_name: str
    what: str
    subject: str
    old: str | None
    new: str | None
    why: str


def add_entry(db: Session, entry: Unchained) -> None:
    """Put the entry into the transaction: it is written when that is committed, and only then.

    Not sooner, since on PostgreSQL the chain makes its writers wait for each other from there to the end;
    and nothing is locked after it, so that no two of them can wait for each other for ever.
    """
    db.info.setdefault(_WAITING, []).append((db.get_nested_transaction(), entry))


def last_number_and_hash(db: Session) -> tuple[int, str]:
    """Number and hash of the newest entry, (0, :data:`NO_ENTRY`) before the first."""
    newest = select(AuditRow.number, AuditRow.hash).order_by(AuditRow.number.desc()).limit(1)
    found = db.execute(newest).first()
    return (found.number, found.hash) if found else (0, NO_ENTRY)


def last_entry_of(db: Session, *, person_name: str, since: datetime) -> datetime | None:
    """When the person's newest entry was made; None where that is before ``since``, or there is none."""
    newest = (
        select(AuditRow.at)
        .where(AuditRow.person_name == person_name)
        .order_by(AuditRow.number.desc())
        .limit(1)
    )
    at = db.execute(newest).scalar_one_or_none()
    return at if at is not None and at >= since else None


@event.listens_for(AnySession, "before_commit")
def _chain_in(db: Session) -> None:
    """Write what waits, at the commit of the whole transaction; that of a savepoint is too soon."""
    waiting = db.info.get(_WAITING)
    if not waiting or db.in_nested_transaction():
        return
    db.flush()  # all other work, and its waiting for others, comes before the lock
    if db.get_bind().dialect.name != "sqlite":  # where BEGIN IMMEDIATE has made us the only writer already
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CHAIN_LOCK})
    number, previous_hash = last_number_and_hash(db)
    rows = []
    for _, entry in waiting:
        number += 1
        content = {
            "number": number,
            "at": entry.at,
            "person_id": entry.person_id,
            "person_name": entry.person_name,
            "what": entry.what,
            "subject": entry.subject,
            "old": entry.old,
            "new": entry.new,
            "why": entry.why,
            "previous_hash": previous_hash,
        }
        previous_hash = entry_hash(**content)
        rows.append({**content, "hash": previous_hash})
    db.info[_WAITING] = []
    db.execute(insert(AuditRow), rows)


@event.listens_for(AnySession, "after_soft_rollback")
def _forget(db: Session, undone: SessionTransaction) -> None:
    """What was recorded in a transaction or savepoint that is undone did not happen."""
    if waiting := db.info.get(_WAITING):
        db.info[_WAITING] = [each for each in waiting if undone.nested and not _within(each[0], undone)]


def _within(inner: SessionTransaction | None, outer: SessionTransaction) -> bool:
    while inner is not None and inner is not outer:
        inner = inner.parent
    return inner is not None
