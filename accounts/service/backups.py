"""Adds an audit entry for each backup and each restore of the workspace."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.people import Action, Person, require
from storage.metrics import BACK_UP


def record_backup(
    db: Session, *, by: Person, file: str, sha256: str, rows: int, images: int, now: datetime
) -> None:
    """Record that a backup was made.

    Args:
        db: a session for writing.
        by: the person who made the backup.
        file: the name of the backup file.
        sha256: the hash in the last line of the file.
        rows: number of database rows.
        images: number of image files.
        now: the current time.
    """
    require(by, Action.MANAGE_PEOPLE)  # admins only: a backup contains everything, including the accounts
    record_action(
        db,
        by=by,
        action=BACK_UP,
        subject=f"backup {file}",
        new={"sha256": sha256, "rows": rows, "images": images},
        now=now,
    )


def record_restore(
    db: Session, *, by: Person, file: str, made_at: datetime, rows: int, images: int, now: datetime
) -> None:
    """Record that the workspace was restored: everything before this entry comes from the backup.

    Args:
        db: a session for writing.
        by: the person who restored the backup.
        file: the name of the backup file.
        made_at: the time at which the backup was made.
        rows: number of database rows.
        images: number of image files.
        now: the current time.
    """
    require(by, Action.MANAGE_PEOPLE)
    record_action(
        db,
        by=by,
        action="restore the workspace",
        subject=f"backup {file}",
        new={"made_at": made_at.isoformat(), "rows": rows, "images": images},
        now=now,
    )
