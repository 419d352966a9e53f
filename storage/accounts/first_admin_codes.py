"""One-time codes that create the first administrator, stored as SHA-256."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, update
from sqlmodel import Session, col

from storage.rows.sign_in_security import FirstAdminCodeRow


def replace_code(db: Session, *, code_sha256: str, expires_at: datetime, now: datetime) -> None:
    """Store a new code. It replaces all codes that were not used."""
    db.execute(delete(FirstAdminCodeRow).where(col(FirstAdminCodeRow.used_at).is_(None)))
    db.add(FirstAdminCodeRow(code_sha256=code_sha256, made_at=now, expires_at=expires_at))
    db.flush()


def use_code(db: Session, *, code_sha256: str, now: datetime) -> bool:
    """Mark the code as used. Return False if it does not exist, has expired or was used before."""
    result = db.execute(
        update(FirstAdminCodeRow)
        .where(
            col(FirstAdminCodeRow.code_sha256) == code_sha256,
            col(FirstAdminCodeRow.used_at).is_(None),
            col(FirstAdminCodeRow.expires_at) > now,
        )
        .values(used_at=now)
        .returning(col(FirstAdminCodeRow.code_sha256))
    )
    return result.first() is not None
