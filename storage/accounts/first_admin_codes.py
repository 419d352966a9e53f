"""Codes that make the first administrator: found by their SHA-256, used once."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, update
from sqlmodel import Session, col

from storage.rows import FirstAdminCodeRow


def replace_code(db: Session, *, code_sha256: str, expires_at: datetime, now: datetime) -> None:
    """The one code that holds from now on; older ones that were not used are gone."""
    db.execute(delete(FirstAdminCodeRow).where(col(FirstAdminCodeRow.used_at).is_(None)))
    db.add(FirstAdminCodeRow(code_sha256=code_sha256, made_at=now, expires_at=expires_at))
    db.flush()


def use_code(db: Session, *, code_sha256: str, now: datetime) -> bool:
    """Use the code up; False when there is no such code, it has expired, or it was used before."""
    used = db.execute(
        update(FirstAdminCodeRow)
        .where(
            col(FirstAdminCodeRow.code_sha256) == code_sha256,
            col(FirstAdminCodeRow.used_at).is_(None),
            col(FirstAdminCodeRow.expires_at) > now,
        )
        .values(used_at=now)
        .returning(col(FirstAdminCodeRow.code_sha256))
    )
    return used.first() is not None
