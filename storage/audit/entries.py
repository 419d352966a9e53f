"""Queries of the audit trail: filtered pages by number, or the whole chain in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlmodel import Session

from domain.audit import AuditEntry
from storage.rows import AuditRow

_BLOCK = 5_000  # entries in memory at a time
_COLUMNS = tuple(getattr(AuditRow, name) for name in AuditEntry.__slots__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """A filter by person (sign-in name), action, subject (with the subjects below it) and time.

    ``since`` is inclusive, ``before`` is exclusive. A filter without any value matches all entries.
    """

    person: str | None = None
    what: str | None = None
    subject: str | None = None
    since: datetime | None = None
    before: datetime | None = None


def newest_entries(
    db: Session, *, wanted: AuditFilter, below: int | None, limit: int
) -> tuple[AuditEntry, ...]:
    """Return at most ``limit`` entries with numbers less than ``below``, the newest first."""
    where = _where(wanted)
    if below is not None:
        where.append(AuditRow.number < below)
    rows = db.execute(select(*_COLUMNS).where(*where).order_by(AuditRow.number.desc()).limit(limit))
    return tuple(AuditEntry(**row._mapping) for row in rows)


def entries_in_order(db: Session, *, wanted: AuditFilter | None = None) -> Iterator[AuditEntry]:
    """Yield every entry in order. Entries are loaded in blocks."""
    where, after = _where(wanted or AuditFilter()), 0
    while True:
        statement = select(*_COLUMNS).where(*where, AuditRow.number > after)
        rows = db.execute(statement.order_by(AuditRow.number).limit(_BLOCK)).all()
        for row in rows:
            yield AuditEntry(**row._mapping)
        if len(rows) < _BLOCK:
            return
        after = rows[-1].number


def count_entries(db: Session, *, wanted: AuditFilter | None = None) -> int:
    """Return the number of entries."""
    return int(db.execute(select(func.count()).where(*_where(wanted or AuditFilter()))).scalar_one())


def values_of(db: Session, *, column: str) -> tuple[str, ...]:
    """Return the distinct values of ``person_name`` or ``what``, sorted."""
    wanted = getattr(AuditRow, column)
    return tuple(db.execute(select(wanted).distinct().order_by(wanted)).scalars())


def _where(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    where: list[Any] = [AuditRow.number > 0]
    if wanted.person is not None:
        where.append(AuditRow.person_name == wanted.person)
    if wanted.what is not None:
        where.append(AuditRow.what == wanted.what)
    if wanted.subject is not None:  # "batch 3" and "batch 3 question 17", not "batch 30"
        below = f"{wanted.subject} "
        inside = and_(AuditRow.subject >= below, AuditRow.subject < f"{wanted.subject}!")  # "!" follows " "
        where.append(or_(AuditRow.subject == wanted.subject, inside))
    if wanted.since is not None:
        where.append(AuditRow.at >= wanted.since)
    if wanted.before is not None:
        where.append(AuditRow.at < wanted.before)
    return where


def batch_prefixes(batch_ids: Sequence[int]) -> tuple[str, ...]:
    """Return the prefixes of the subjects of those batches' questions."""
    return tuple(f"batch {number} question " for number in batch_ids)
