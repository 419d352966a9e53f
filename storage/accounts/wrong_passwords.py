"""Counts of wrong passwords, shared by all processes of the app."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select
from sqlmodel import Session, col

from storage.inserts import insert_into
from storage.rows import WrongPasswordRow


def lock_count(db: Session, *, counted_for: str, now: datetime) -> tuple[int, datetime]:
    """Lock the count of wrong passwords until the commit; return it with the time of the last one.

    A missing row is created with 0, so that there is a row to lock.
    """
    db.execute(
        insert_into(db, WrongPasswordRow)
        .values(counted_for=counted_for, count=0, last_at=now)
        .on_conflict_do_nothing(index_elements=["counted_for"])
    )
    row = db.execute(
        select(WrongPasswordRow).where(col(WrongPasswordRow.counted_for) == counted_for).with_for_update()
    ).scalar_one()
    return row.count, row.last_at


def set_count(db: Session, *, counted_for: str, count: int, now: datetime) -> None:
    """Store the count, with ``now`` as the time of the last wrong password."""
    row = db.get_one(WrongPasswordRow, counted_for)
    row.count, row.last_at = count, now
    db.flush()


def delete_counts(db: Session, *, counted_for: list[str]) -> None:
    """Delete the counts after a right password."""
    db.execute(delete(WrongPasswordRow).where(col(WrongPasswordRow.counted_for).in_(counted_for)))


def delete_counts_before(db: Session, *, moment: datetime) -> None:
    """Delete counts that no longer delay any sign-in."""
    db.execute(delete(WrongPasswordRow).where(col(WrongPasswordRow.last_at) < moment))
