"""Counts of wrong passwords, shared by all processes of the app.

Callers always lock several counts in the same order, which prevents deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlmodel import Session, col

from storage.inserts import insert_into
from storage.rows.sign_in_security import WrongPasswordRow


def lock_count(db: Session, *, counted_for: str, now: datetime) -> tuple[int, datetime]:
    """Lock the count of wrong passwords until the commit; return it with the time of the last one.

    A missing row is created with 0. Both happen in one statement, because another transaction could delete
    the row between two statements.
    """
    insertion = insert_into(db, WrongPasswordRow).values(counted_for=counted_for, count=0, last_at=now)
    statement = insertion.on_conflict_do_update(
        index_elements=["counted_for"], set_={"counted_for": counted_for}
    ).returning(col(WrongPasswordRow.count), col(WrongPasswordRow.last_at))
    count, last_at = db.execute(statement).one()
    return count, last_at


def set_count(db: Session, *, counted_for: str, count: int, last_at: datetime) -> None:
    """Store the count with the time of the last wrong password, or of the last refill of a budget."""
    db.execute(
        update(WrongPasswordRow)
        .where(col(WrongPasswordRow.counted_for) == counted_for)
        .values(count=count, last_at=last_at)
    )


def decrement_counts(db: Session, *, counted_for: Iterable[str]) -> None:
    """Subtract one from each of these counts, but not below 0."""
    for key in counted_for:
        db.execute(
            update(WrongPasswordRow)
            .where(col(WrongPasswordRow.counted_for) == key, col(WrongPasswordRow.count) > 0)
            .values(count=WrongPasswordRow.count - 1)
        )


def delete_counts(db: Session, *, counted_for: Iterable[str]) -> None:
    """Delete the counts after a correct password."""
    for key in counted_for:
        db.execute(delete(WrongPasswordRow).where(col(WrongPasswordRow.counted_for) == key))


def delete_counts_before(db: Session, *, moment: datetime) -> None:
    """Delete counts older than ``moment``. Counts that another transaction has locked are kept."""
    old_keys = (
        select(col(WrongPasswordRow.counted_for))
        .where(col(WrongPasswordRow.last_at) < moment)
        .with_for_update(skip_locked=True)
    )
    db.execute(delete(WrongPasswordRow).where(col(WrongPasswordRow.counted_for).in_(old_keys)))
