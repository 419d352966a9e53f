"""Sign-ins: one row a signed-in browser, found by the SHA-256 of its cookie's token."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, or_, select, update
from sqlmodel import Session, col

from storage.rows import SignInRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Who signed in, when, and when the browser was last heard of; revoked ones don't come back to life.

    ``browser`` is what its owner knows it by, ``way`` how they came: "password", "provider", "first admin".
    """

    token_sha256: str
    person_id: int
    signed_in_at: datetime
    last_seen_at: datetime
    revoked_at: datetime | None
    browser: str = ""
    way: str = "password"


def insert_sign_in(
    db: Session, *, token_sha256: str, person_id: int, browser: str, way: str, now: datetime
) -> None:
    db.add(
        SignInRow(
            token_sha256=token_sha256,
            person_id=person_id,
            signed_in_at=now,
            last_seen_at=now,
            browser=browser,
            way=way,
        )
    )
    db.flush()


def find_sign_in(db: Session, *, token_sha256: str) -> SignIn | None:
    row = db.execute(select(SignInRow).where(SignInRow.token_sha256 == token_sha256)).scalars().first()
    return _sign_in(row) if row is not None else None


def sign_ins_not_revoked(db: Session, *, person_id: int) -> list[SignIn]:
    """Those of a person that nobody has ended, the one last heard of first; some may have run out."""
    rows = db.execute(
        select(SignInRow)
        .where(col(SignInRow.person_id) == person_id, col(SignInRow.revoked_at).is_(None))
        .order_by(col(SignInRow.last_seen_at).desc(), col(SignInRow.token_sha256))
    ).scalars()
    return [_sign_in(row) for row in rows]


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
        .where(SignInRow.token_sha256 == token_sha256, col(SignInRow.revoked_at).is_(None))
        .values(revoked_at=now)
    )


def revoke_all_of(db: Session, *, person_id: int, now: datetime, but: str | None = None) -> int:
    """End every sign-in of a person, ``but`` one if that is named by its SHA-256; how many that were."""
    statement = update(SignInRow).where(
        col(SignInRow.person_id) == person_id, col(SignInRow.revoked_at).is_(None)
    )
    if but is not None:
        statement = statement.where(col(SignInRow.token_sha256) != but)
    ended = db.execute(statement.values(revoked_at=now).returning(col(SignInRow.token_sha256)))
    return len(ended.all())


def delete_ended_before(db: Session, *, moment: datetime) -> int:
    """Drop the rows of sign-ins that were revoked, or last heard of, before that; how many those were."""
    gone = db.execute(
        delete(SignInRow)
        .where(or_(col(SignInRow.last_seen_at) < moment, col(SignInRow.revoked_at) < moment))
        .returning(col(SignInRow.token_sha256))
    )
    return len(gone.all())


def _sign_in(row: SignInRow) -> SignIn:
    return SignIn(
        token_sha256=row.token_sha256,
        person_id=row.person_id,
        signed_in_at=row.signed_in_at,
        last_seen_at=row.last_seen_at,
        revoked_at=row.revoked_at,
        browser=row.browser,
        way=row.way,
    )
