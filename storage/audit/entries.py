"""Queries of the audit trail: filtered pages by number, or the whole chain in order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlmodel import Session

from domain.audit import AuditEntry, AuditHead
from storage.rows.audit import AUDIT_COLUMNS, AuditRow

_BLOCK = 5_000  # entries in memory at a time
_COLUMNS = tuple(
    getattr(AuditRow, AUDIT_COLUMNS.get(name, name)).label(name) for name in AuditEntry.__slots__
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """A filter by person (sign-in name), action, subject (with the subjects below it) and time.

    ``since`` is inclusive, ``before`` is exclusive. A filter without any value matches all entries.
    """

    person: str | None = None
    action: str | None = None
    subject: str | None = None
    since: datetime | None = None
    before: datetime | None = None


def list_newest_entries(
    db: Session, *, criteria: AuditFilter, before_number: int | None, limit: int
) -> tuple[AuditEntry, ...]:
    """Return at most ``limit`` entries with numbers less than ``before_number``, the newest first."""
    where = _conditions(criteria)
    if before_number is not None:
        where.append(AuditRow.number < before_number)
    rows = db.execute(select(*_COLUMNS).where(*where).order_by(AuditRow.number.desc()).limit(limit))
    return tuple(AuditEntry(**row._mapping) for row in rows)


def iterate_entries(db: Session, *, criteria: AuditFilter | None = None) -> Iterator[AuditEntry]:
    """Yield every entry in order. Entries are loaded in blocks."""
    where, after = _conditions(criteria or AuditFilter()), 0
    while True:
        statement = select(*_COLUMNS).where(*where, AuditRow.number > after)
        rows = db.execute(statement.order_by(AuditRow.number).limit(_BLOCK)).all()
        for row in rows:
            yield AuditEntry(**row._mapping)
        if len(rows) < _BLOCK:
            return
        after = rows[-1].number


def find_last_entry(
    db: Session, *, actions: Collection[str] | None = None, subjects: Collection[str]
) -> AuditHead | None:
    """Return number and hash of the newest entry about one of the subjects or a subject below it.

    Args:
        db: the session.
        actions: the actions to consider; None for all.
        subjects: the subjects, one or more.
    """
    newest = select(AuditRow.number, AuditRow.hash).where(or_(*(_is_about(subject) for subject in subjects)))
    if actions is not None:
        newest = newest.where(AuditRow.what.in_(actions))
    row = db.execute(newest.order_by(AuditRow.number.desc()).limit(1)).first()
    return None if row is None else AuditHead(number=row.number, hash=row.hash)


def count_entries(db: Session, *, criteria: AuditFilter | None = None) -> int:
    """Return the number of entries that match the filter."""
    return int(db.execute(select(func.count()).where(*_conditions(criteria or AuditFilter()))).scalar_one())


def list_values(db: Session, *, field: str) -> tuple[str, ...]:
    """Return the distinct values of ``person_name`` or ``action``, sorted."""
    attribute = getattr(AuditRow, AUDIT_COLUMNS.get(field, field))
    return tuple(db.execute(select(attribute).distinct().order_by(attribute)).scalars())


def _conditions(criteria: AuditFilter) -> list[ColumnElement[bool]]:
    conditions: list[Any] = [AuditRow.number > 0]
    if criteria.person is not None:
        conditions.append(AuditRow.person_name == criteria.person)
    if criteria.action is not None:
        conditions.append(AuditRow.what == criteria.action)
    if criteria.subject is not None:  # "batch 3" and "batch 3 question 17", not "batch 30"
        conditions.append(_is_about(criteria.subject))
    if criteria.since is not None:
        conditions.append(AuditRow.at >= criteria.since)
    if criteria.before is not None:
        conditions.append(AuditRow.at < criteria.before)
    return conditions


def _is_about(subject: str) -> ColumnElement[bool]:
    has_prefix = and_(AuditRow.subject >= f"{subject} ", AuditRow.subject < f"{subject}!")  # "!" follows " "
    return or_(AuditRow.subject == subject, has_prefix)


def question_subject_prefixes(batch_ids: Sequence[int]) -> tuple[str, ...]:
    """Return the prefixes of the subjects of those batches' questions."""
    return tuple(f"batch {number} question " for number in batch_ids)
