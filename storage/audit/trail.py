"""Writing to the audit trail. Entries wait in the session; its commit adds them to the hash chain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import event, insert, select, text
from sqlalchemy.orm import Session as AnySession
from sqlalchemy.orm import SessionTransaction
from sqlmodel import Session

from domain.audit import NO_ENTRY, entry_hash
from storage.rows.audit import AuditRow

#: The action of the first entry if judgements existed before the trail.
BEGIN_TRAIL = "begin audit trail"

_PENDING = "audit entries"  # key in ``Session.info``
#: Advisory lock: the chain has one writer at a time. The number is "audit" in ASCII and is used nowhere else.
_CHAIN_LOCK = 0x6175646974


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingEntry:
    """An entry that is not yet part of the chain; see :class:`domain.audit.AuditEntry`."""

    at: datetime
    person_id: int | None
    person_name: str
    action: str
    subject: str
    old: str | None
    new: str | None
    reason: str


def add_entry(db: Session, entry: PendingEntry) -> None:
    """Add the entry to the transaction. It is written when the transaction commits, not earlier.

    On PostgreSQL the lock of the chain is held from the write until the transaction ends. Writing late keeps
    that time short. No other lock is acquired after it, which prevents deadlocks.
    """
    db.info.setdefault(_PENDING, []).append((db.get_nested_transaction(), entry))


def load_last_number_and_hash(db: Session) -> tuple[int, str]:
    """Return number and hash of the newest entry; (0, :data:`NO_ENTRY`) if there is none."""
    newest = select(AuditRow.number, AuditRow.hash).order_by(AuditRow.number.desc()).limit(1)
    row = db.execute(newest).first()
    return (row.number, row.hash) if row else (0, NO_ENTRY)


def find_last_entry_time(db: Session, *, person_name: str, since: datetime) -> datetime | None:
    """Return the time of the person's newest entry; None if it is before ``since`` or there is none."""
    newest = (
        select(AuditRow.at)
        .where(AuditRow.person_name == person_name)
        .order_by(AuditRow.number.desc())
        .limit(1)
    )
    at = db.execute(newest).scalar_one_or_none()
    return at if at is not None and at >= since else None


@event.listens_for(AnySession, "before_commit")
def _append_pending_entries(db: Session) -> None:
    """Write the waiting entries when the outer transaction commits, not when a savepoint is released."""
    pending = db.info.get(_PENDING)
    if not pending or db.in_nested_transaction():
        return
    db.flush()  # all other statements, which may wait for locks, come before this lock
    if db.get_bind().dialect.name != "sqlite":  # on SQLite, BEGIN IMMEDIATE already ensures a single writer
        db.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _CHAIN_LOCK})
    number, previous_hash = load_last_number_and_hash(db)
    rows = []
    for _, entry in pending:
        number += 1
        content = {
            "number": number,
            "at": entry.at,
            "person_id": entry.person_id,
            "person_name": entry.person_name,
            "what": entry.action,
            "subject": entry.subject,
            "old": entry.old,
            "new": entry.new,
            "why": entry.reason,
            "previous_hash": previous_hash,
        }
        previous_hash = entry_hash(**content)
        rows.append({**content, "hash": previous_hash})
    db.info[_PENDING] = []
    db.execute(insert(AuditRow), rows)


@event.listens_for(AnySession, "after_soft_rollback")
def _discard_rolled_back(db: Session, rolled_back: SessionTransaction) -> None:
    """Discard the waiting entries of a transaction or savepoint that is rolled back."""
    if pending := db.info.get(_PENDING):
        db.info[_PENDING] = [
            (savepoint, entry)
            for savepoint, entry in pending
            if rolled_back.nested and not _is_within(savepoint, rolled_back)
        ]


def _is_within(inner: SessionTransaction | None, outer: SessionTransaction) -> bool:
    while inner is not None and inner is not outer:
        inner = inner.parent
    return inner is not None
