"""Backups on record: that the workspace was backed up, and that it was restored from one."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.people import Action, Person, require


def record_backup(
    db: Session, *, by: Person, file: str, sha256: str, rows: int, images: int, now: datetime
) -> None:
    """Put on record that a backup was made; ``sha256`` is what its last line says."""
    require(by, Action.MANAGE_PEOPLE)  # an admin's: a backup holds everything, the accounts too
    record(
        db,
        by=by,
        what="back up the workspace",
        subject=f"backup {file}",
        new={"sha256": sha256, "rows": rows, "images": images},
        now=now,
    )


def record_restore(
    db: Session, *, by: Person, file: str, made_at: datetime, rows: int, images: int, now: datetime
) -> None:
    """Put on record that everything before this entry comes from a backup; what came after it is gone."""
    require(by, Action.MANAGE_PEOPLE)
    record(
        db,
        by=by,
        what="restore the workspace",
        subject=f"backup {file}",
        new={"made_at": made_at.isoformat(), "rows": rows, "images": images},
        now=now,
    )
