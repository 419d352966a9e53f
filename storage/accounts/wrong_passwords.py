"""Counts of wrong passwords, shared by all processes of the app."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select
from sqlmodel import Session, col

from storage.inserts import insert_into
from storage.rows import WrongPasswordRow


def lock_count(db: Session, *, counted_for: str, now: datetime) -> tuple[int, datetime]:
    """How many wrong ones there were, and when the last was; nobody else counts here until the commit.

    A row that is not there is made with 0, so that there is something to lock.
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
    """Put down that many, the last just now."""
    row = db.get_one(WrongPasswordRow, counted_for)
    row.count, row.last_at = count, now
    db.flush()


def forget(db: Session, *, counted_for: list[str]) -> None:
    """The right password came."""
    db.execute(delete(WrongPasswordRow).where(col(WrongPasswordRow.counted_for).in_(counted_for)))


def forget_before(db: Session, *, moment: datetime) -> None:
    """Drop what nobody is made to wait for any more."""
    db.execute(delete(WrongPasswordRow).where(col(WrongPasswordRow.last_at) < moment))
