"""Storage of authenticator apps, recovery codes, and sign-ins that wait for a code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlmodel import Session, col

from storage.rows.second_factors import PendingSignInRow, RecoveryCodeRow, SecondFactorRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactor:
    """A person's authenticator app. It is in use once it is confirmed."""

    secret: str
    made_at: datetime
    confirmed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSignIn:
    """A browser that passed the first sign-in step and still needs a code.

    ``method`` is the method of the first step, such as "password".
    """

    person_id: int
    method: str
    began_at: datetime


def find_second_factor(db: Session, *, person_id: int) -> SecondFactor | None:
    row = db.get(SecondFactorRow, person_id, populate_existing=True)
    if row is None:
        return None
    return SecondFactor(secret=row.secret, made_at=row.made_at, confirmed_at=row.confirmed_at)


def list_confirmed_people(db: Session) -> frozenset[int]:
    """Return the ids of the people whose authenticator app is confirmed."""
    person_ids = select(col(SecondFactorRow.person_id)).where(col(SecondFactorRow.confirmed_at).is_not(None))
    return frozenset(db.execute(person_ids).scalars())


def insert_second_factor(db: Session, *, person_id: int, secret: str, now: datetime) -> None:
    """Store a secret that is not confirmed yet, and delete the previous one with its recovery codes."""
    delete_second_factor(db, person_id=person_id)
    db.add(SecondFactorRow(person_id=person_id, secret=secret, made_at=now))
    db.flush()


def confirm_second_factor(db: Session, *, person_id: int, secret: str, now: datetime) -> bool:
    """Mark the secret as confirmed. Return False if it was replaced or confirmed in the meantime."""
    updated = db.execute(
        update(SecondFactorRow)
        .where(
            col(SecondFactorRow.person_id) == person_id,
            col(SecondFactorRow.secret) == secret,
            col(SecondFactorRow.confirmed_at).is_(None),
        )
        .values(confirmed_at=now)
        .returning(col(SecondFactorRow.person_id))
    )
    return updated.first() is not None


def accept_time_step(db: Session, *, person_id: int, step: int) -> bool:
    """Record that the code of this TOTP time step was accepted.

    Return False if the code of this or of a later step was used before.
    """
    updated = db.execute(
        update(SecondFactorRow)
        .where(col(SecondFactorRow.person_id) == person_id, col(SecondFactorRow.last_step) < step)
        .values(last_step=step)
        .returning(col(SecondFactorRow.person_id))
    )
    return updated.first() is not None


def delete_second_factor(db: Session, *, person_id: int) -> None:
    """Delete a person's authenticator app and recovery codes."""
    db.execute(delete(RecoveryCodeRow).where(col(RecoveryCodeRow.person_id) == person_id))
    db.execute(delete(SecondFactorRow).where(col(SecondFactorRow.person_id) == person_id))
    db.expire_all()


def replace_recovery_codes(db: Session, *, person_id: int, code_sha256s: Iterable[str]) -> None:
    """Store new recovery codes. They replace all previous ones."""
    db.execute(delete(RecoveryCodeRow).where(col(RecoveryCodeRow.person_id) == person_id))
    db.add_all(RecoveryCodeRow(code_sha256=sha256, person_id=person_id) for sha256 in code_sha256s)
    db.flush()


def use_recovery_code(db: Session, *, person_id: int, code_sha256: str, now: datetime) -> bool:
    """Mark a recovery code as used. Return False if the person has no such code, or used it before."""
    updated = db.execute(
        update(RecoveryCodeRow)
        .where(
            col(RecoveryCodeRow.person_id) == person_id,
            col(RecoveryCodeRow.code_sha256) == code_sha256,
            col(RecoveryCodeRow.used_at).is_(None),
        )
        .values(used_at=now)
        .returning(col(RecoveryCodeRow.code_sha256))
    )
    return updated.first() is not None


def count_recovery_codes(db: Session, *, person_id: int) -> int:
    """Return the number of recovery codes that were not used."""
    unused_count = select(func.count()).where(
        col(RecoveryCodeRow.person_id) == person_id, col(RecoveryCodeRow.used_at).is_(None)
    )
    return int(db.execute(unused_count).scalar_one())


def insert_pending_sign_in(
    db: Session, *, token_sha256: str, person_id: int, method: str, now: datetime
) -> None:
    db.add(PendingSignInRow(token_sha256=token_sha256, person_id=person_id, way=method, began_at=now))
    db.flush()


def find_pending_sign_in(db: Session, *, token_sha256: str) -> PendingSignIn | None:
    row = db.get(PendingSignInRow, token_sha256)
    return (
        PendingSignIn(person_id=row.person_id, method=row.way, began_at=row.began_at)
        if row is not None
        else None
    )


def delete_pending_sign_in(db: Session, *, token_sha256: str) -> bool:
    """Delete a pending sign-in. Return False if there is none."""
    deleted = db.execute(
        delete(PendingSignInRow)
        .where(col(PendingSignInRow.token_sha256) == token_sha256)
        .returning(col(PendingSignInRow.token_sha256))
    )
    return deleted.first() is not None


def delete_pending_sign_ins_before(db: Session, *, moment: datetime) -> None:
    db.execute(delete(PendingSignInRow).where(col(PendingSignInRow.began_at) < moment))
