"""Storage of sign-ins: one row per signed-in browser, looked up by the SHA-256 of its cookie's token."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, or_, select, update
from sqlmodel import Session, col

from domain.people import Person, Role
from storage.rows.people import PersonRoleRow, PersonRow, SignInRow
from storage.rows.second_factors import PendingSignInRow

_PERSON_COLUMNS = ("id", "name", "display_name", "demo", "disabled_at")
_SIGN_IN_COLUMNS = (
    "token_sha256",
    "person_id",
    "signed_in_at",
    "last_seen_at",
    "revoked_at",
    "browser",
    "way",
)
#: Sign-in and person of a token, one row per role. Built once: every request and every click executes it.
_SIGN_IN_AND_PERSON_QUERY = (
    select(
        *(getattr(SignInRow, name) for name in _SIGN_IN_COLUMNS),
        *(getattr(PersonRow, name) for name in _PERSON_COLUMNS),
        PersonRoleRow.role,
    )
    .join(PersonRow, col(PersonRow.id) == SignInRow.person_id)
    .outerjoin(PersonRoleRow, col(PersonRoleRow.person_id) == PersonRow.id)
    .where(col(SignInRow.token_sha256) == bindparam("token_sha256"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A person's sign-in in one browser, with the times of sign-in and of last activity.

    A revoked sign-in stays revoked. ``browser`` is a name that its owner recognises. ``way`` is how the
    person signed in: "password", "password and code", "provider" or "first admin".
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
    return _sign_in_from_row(row) if row is not None else None


def find_sign_in_and_person(db: Session, *, token_sha256: str) -> tuple[SignIn, Person] | None:
    """Return the sign-in and its person with their current roles. The person may be disabled."""
    rows = db.execute(_SIGN_IN_AND_PERSON_QUERY, {"token_sha256": token_sha256}).all()
    if not rows:
        return None
    person = Person(
        roles=frozenset(Role(row.role) for row in rows if row.role is not None),
        **{name: getattr(rows[0], name) for name in _PERSON_COLUMNS},
    )
    return _sign_in_from_row(rows[0]), person


def list_unrevoked_sign_ins(db: Session, *, person_id: int) -> list[SignIn]:
    """Return a person's sign-ins that were not revoked, the most recently active first.

    Some of them may have expired.
    """
    rows = db.execute(
        select(SignInRow)
        .where(col(SignInRow.person_id) == person_id, col(SignInRow.revoked_at).is_(None))
        .order_by(col(SignInRow.last_seen_at).desc(), col(SignInRow.token_sha256))
    ).scalars()
    return [_sign_in_from_row(row) for row in rows]


def update_last_seen(db: Session, *, token_sha256: str, now: datetime) -> None:
    """Update the time of last activity. An earlier time than the stored one changes nothing."""
    db.execute(
        update(SignInRow)
        .where(SignInRow.token_sha256 == token_sha256, SignInRow.last_seen_at < now)
        .values(last_seen_at=now)
    )


def revoke_sign_in(db: Session, *, token_sha256: str, now: datetime) -> None:
    """Revoke one sign-in. If it was revoked before, the earlier time is kept."""
    db.execute(
        update(SignInRow)
        .where(SignInRow.token_sha256 == token_sha256, col(SignInRow.revoked_at).is_(None))
        .values(revoked_at=now)
    )


def revoke_sign_ins_of(
    db: Session, *, person_id: int, now: datetime, except_token_sha256: str | None = None
) -> int:
    """Revoke every sign-in of a person and return how many were revoked.

    A sign-in whose token has the SHA-256 ``except_token_sha256`` is kept. Sign-ins that wait for a
    code are deleted, so the person must enter the password again.
    """
    db.execute(delete(PendingSignInRow).where(col(PendingSignInRow.person_id) == person_id))
    statement = update(SignInRow).where(
        col(SignInRow.person_id) == person_id, col(SignInRow.revoked_at).is_(None)
    )
    if except_token_sha256 is not None:
        statement = statement.where(col(SignInRow.token_sha256) != except_token_sha256)
    revoked = db.execute(statement.values(revoked_at=now).returning(col(SignInRow.token_sha256)))
    return len(revoked.all())


def delete_ended_sign_ins(db: Session, *, before: datetime) -> int:
    """Delete sign-ins that were revoked or last active before that time; return how many were deleted."""
    deleted = db.execute(
        delete(SignInRow)
        .where(or_(col(SignInRow.last_seen_at) < before, col(SignInRow.revoked_at) < before))
        .returning(col(SignInRow.token_sha256))
    )
    return len(deleted.all())


def _sign_in_from_row(row: Any) -> SignIn:  # noqa: ANN401 - a SignInRow, or a result row with its columns
    return SignIn(**{name: getattr(row, name) for name in _SIGN_IN_COLUMNS})
