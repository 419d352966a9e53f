"""Sign-ins: one row a signed-in browser, found by the SHA-256 of its cookie's token."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlmodel import Session

from storage.rows import SignInRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Who signed in, when, and when the browser was last heard of; revoked ones don't come back to life."""

    token_sha256: str
    person_id: int
    signed_in_at: datetime
    last_seen_at: datetime
    revoked_at: datetime | None


def insert_sign_in(db: Session, *, token_sha256: str, person_id: int, now: datetime) -> None:
    db.add(SignInRow(token_sha256=token_sha256, person_id=person_id, signed_in_at=now, last_seen_at=now))
    db.flush()


def find_sign_in(db: Session, *, token_sha256: str) -> SignIn | None:
    row = db.execute(select(SignInRow).where(SignInRow.token_sha256 == token_sha256)).scalars().first()
    if row is None:
        return None
    return SignIn(
        token_sha256=row.token_sha256,
        person_id=row.person_id,
        signed_in_at=row.signed_in_at,
        last_seen_at=row.last_seen_at,
        revoked_at=row.revoked_at,
    )


def seen(db: Session, *, token_sha256: str, now: datetime) -> None:
    """Remember that the browser was heard of; time does not run backwards."""
    db.execute(
        update(SignInRow)
        .where(SignInRow.token_sha256 == token_sha256, SignInRow.last_seen_at < now)
        .values(last_seen_at=now)
    )


def revoke(db: Session, *, token_sha256: str, now: datetime) -> None:
    """End one sign-in; one that has ended keeps its time."""
    db.execute(
        update(SignInRow)
        .where(SignInRow.token_sha256 == token_sha256, SignInRow.revoked_at.is_(None))  # type: ignore[union-attr]  # a column
        .values(revoked_at=now)
    )


def revoke_all_of(db: Session, *, person_id: int, now: datetime, but: str | None = None) -> None:
    """End every sign-in of a person, ``but`` one if that is named by its SHA-256."""
    statement = update(SignInRow).where(
        SignInRow.person_id == person_id,
        SignInRow.revoked_at.is_(None),  # type: ignore[union-attr]  # a column
    )
    if but is not None:
        statement = statement.where(SignInRow.token_sha256 != but)
    db.execute(statement.values(revoked_at=now))
