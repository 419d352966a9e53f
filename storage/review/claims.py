"""Storage of claims: temporary assignments of a shared queue's questions to people.

On PostgreSQL, claims whose rows are locked by other transactions are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select, update
from sqlalchemy.orm import aliased
from sqlmodel import Session

from domain.batches import AssignmentState
from storage.rows.batches import AssignmentRow
from storage.rows.claims import ClaimRow
from storage.types import AnySelect, affected_rows

#: The number of times that a queue is searched if other transactions have locked all of its claims.
_ATTEMPTS = 5


class ClaimState(StrEnum):
    """The state of one judgement requested by a shared queue."""

    FREE = "free"
    CLAIMED = "claimed"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The ``turn``-th judgement requested for a question; the person ``person_id`` holds or held it."""

    question_row_id: int
    turn: int
    position: int
    person_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCounts:
    """The number of judgements of a shared queue by state."""

    free: int
    claimed: int
    done: int


def take_claim(
    db: Session,
    *,
    batch_id: int,
    person_id: int,
    preferred_exam: int | None,
    expires_at: datetime,
    now: datetime,
) -> Claim | None:
    """Assign the next judgement of the queue to the person, and return the claim in its previous state.

    The order of preference is: a judgement about the exam ``preferred_exam``; a judgement about an exam on
    which nobody else is working; any other free judgement; an expired claim; a judgement that the person had
    claimed before and lost or returned. The result is None if there is nothing that the person can claim now.

    Rows locked by other transactions are skipped, because waiting while holding a lock could cause a
    deadlock. If only locked rows are left, the search is repeated a few times.
    """
    was_ever_assigned = _has_assignment(person_id, batch_id)
    is_assigned = _has_assignment(person_id, batch_id, except_state=AssignmentState.WITHDRAWN)
    is_free = and_(ClaimRow.batch_id == batch_id, ClaimRow.state == ClaimState.FREE)
    is_expired = and_(
        ClaimRow.batch_id == batch_id,
        ClaimRow.state == ClaimState.CLAIMED,
        ClaimRow.expires_at <= now,
        ClaimRow.person_id != person_id,
    )
    by_turn, by_expiry = (ClaimRow.turn, ClaimRow.position), (ClaimRow.expires_at, ClaimRow.position)
    preferences: list[tuple[ColumnElement[bool], Sequence[Any]]] = [
        (and_(is_free, ~was_ever_assigned, ~_exam_is_busy(person_id)), by_turn),
        (and_(is_free, ~was_ever_assigned), by_turn),
        (and_(is_expired, ~was_ever_assigned), by_expiry),
        (and_(is_free, ~is_assigned), by_turn),
        (and_(is_expired, ~is_assigned), by_expiry),
    ]
    if preferred_exam is not None:
        preferences.insert(
            0, (and_(is_free, ~was_ever_assigned, ClaimRow.exam_id == preferred_exam), by_turn)
        )
    for _ in range(_ATTEMPTS):
        for where, order in preferences:
            claim = _lock_first_claim(db, where, order)
            if claim is not None:
                _assign_claim(db, claim, batch_id=batch_id, person_id=person_id, expires_at=expires_at)
                return claim
        claimable = (
            select(ClaimRow.turn)
            .where(or_(and_(is_free, ~is_assigned), and_(is_expired, ~is_assigned)))
            .limit(1)
        )
        if db.execute(claimable).first() is None:
            break
    return None


def renew_claim(
    db: Session, *, batch_id: int, question_id: int, person_id: int, expires_at: datetime
) -> bool:
    """Extend the person's claim on the question; return False if the person does not hold it."""
    result = db.execute(
        update(ClaimRow)
        .where(_is_claimed_by(batch_id, person_id), ClaimRow.question_id == question_id)
        .values(expires_at=expires_at)
    )
    return affected_rows(result) > 0


def reclaim_question(
    db: Session, *, batch_id: int, question_id: int, person_id: int, expires_at: datetime, now: datetime
) -> bool:
    """Assign a free judgement of a question to the person who claimed it before; False if none is free."""
    where = and_(
        ClaimRow.batch_id == batch_id,
        ClaimRow.question_id == question_id,
        or_(
            ClaimRow.state == ClaimState.FREE,
            and_(ClaimRow.state == ClaimState.CLAIMED, ClaimRow.expires_at <= now),
        ),
    )
    claim = _lock_first_claim(db, where, (ClaimRow.turn,))
    if claim is None:
        return False
    _assign_claim(db, claim, batch_id=batch_id, person_id=person_id, expires_at=expires_at)
    return True


def finish_claim(db: Session, *, batch_id: int, question_id: int, person_id: int) -> None:
    """Mark the person's claim on the question as done."""
    db.execute(
        update(ClaimRow)
        .where(_is_claimed_by(batch_id, person_id), ClaimRow.question_id == question_id)
        .values(state=ClaimState.DONE.value, expires_at=None)
    )


def release_claims(db: Session, *, batch_id: int, person_id: int, question_id: int | None = None) -> int:
    """Release the person's claim on the question, or all their claims; return how many were released."""
    conditions = [_is_claimed_by(batch_id, person_id)]
    if question_id is not None:
        conditions.append(ClaimRow.question_id == question_id)
    free_values = {"state": ClaimState.FREE.value, "person_id": None, "expires_at": None}
    return affected_rows(db.execute(update(ClaimRow).where(*conditions).values(**free_values)))


def list_claimed_questions(db: Session, *, batch_id: int, person_id: int) -> tuple[int, ...]:
    """Return the ids of the questions that the person has claimed, by position."""
    rows = db.execute(
        select(ClaimRow.question_id).where(_is_claimed_by(batch_id, person_id)).order_by(ClaimRow.position)
    )
    return tuple(rows.scalars())


def find_next_expiry(db: Session, *, batch_id: int, person_id: int) -> datetime | None:
    """Return the earliest expiry of a claim that the person could take over; None if there is none."""
    return db.execute(
        select(func.min(ClaimRow.expires_at)).where(
            ClaimRow.batch_id == batch_id,
            ClaimRow.state == ClaimState.CLAIMED,
            ClaimRow.person_id != person_id,
            ~_has_assignment(person_id, batch_id, except_state=AssignmentState.WITHDRAWN),
        )
    ).scalar_one_or_none()


def count_claims(db: Session, *, batch_id: int) -> ClaimCounts:
    """Count the judgements of the queue by state."""
    rows = db.execute(
        select(ClaimRow.state, func.count()).where(ClaimRow.batch_id == batch_id).group_by(ClaimRow.state)
    )
    counts = dict(rows.all())
    return ClaimCounts(**{state.value: counts.get(state.value, 0) for state in ClaimState})


def count_claimable(db: Session, *, batch_id: int, person_id: int) -> int:
    """Return the number of free questions that the person does not have, or that were withdrawn from them."""
    return int(
        db.execute(
            select(func.count(func.distinct(ClaimRow.question_id))).where(
                ClaimRow.batch_id == batch_id,
                ClaimRow.state == ClaimState.FREE,
                ~_has_assignment(person_id, batch_id, except_state=AssignmentState.WITHDRAWN),
            )
        ).scalar_one()
    )


def has_free_on_exam(db: Session, *, batch_id: int, person_id: int, exam_row_id: int) -> bool:
    """Return whether the person can take a free judgement about that exam."""
    return (
        db.execute(
            select(ClaimRow.turn)
            .where(
                ClaimRow.batch_id == batch_id,
                ClaimRow.exam_id == exam_row_id,
                ClaimRow.state == ClaimState.FREE,
                ~_has_assignment(person_id, batch_id),
            )
            .limit(1)
        ).first()
        is not None
    )


def list_upcoming_exams(db: Session, *, batch_id: int, person_id: int, limit: int) -> tuple[int, ...]:
    """Return the exam ids of the next free judgements that the person can take, for preloading."""
    rows = db.execute(
        select(ClaimRow.exam_id)
        .where(
            ClaimRow.batch_id == batch_id,
            ClaimRow.state == ClaimState.FREE,
            ~_has_assignment(person_id, batch_id),
            ~_exam_is_busy(person_id),
        )
        .order_by(ClaimRow.turn, ClaimRow.position)
        .limit(limit)
    )
    return tuple(dict.fromkeys(rows.scalars()))


def _assign_claim(db: Session, claim: Claim, *, batch_id: int, person_id: int, expires_at: datetime) -> None:
    db.execute(
        update(ClaimRow)
        .where(
            ClaimRow.batch_id == batch_id,
            ClaimRow.question_id == claim.question_row_id,
            ClaimRow.turn == claim.turn,
        )
        .values(state=ClaimState.CLAIMED.value, person_id=person_id, expires_at=expires_at)
    )


def _is_claimed_by(batch_id: int, person_id: int) -> ColumnElement[bool]:
    return and_(
        ClaimRow.batch_id == batch_id,
        ClaimRow.person_id == person_id,
        ClaimRow.state == ClaimState.CLAIMED,
    )


def _lock_first_claim(db: Session, where: ColumnElement[bool], order: Sequence[Any]) -> Claim | None:
    statement: AnySelect = (
        select(ClaimRow.question_id, ClaimRow.turn, ClaimRow.position, ClaimRow.person_id)
        .where(where)
        .order_by(*order)
        .limit(1)
        .with_for_update(of=ClaimRow, skip_locked=True)  # on SQLite, BEGIN IMMEDIATE has the same effect
    )
    row = db.execute(statement).first()
    if row is None:
        return None
    return Claim(
        question_row_id=row.question_id, turn=row.turn, position=row.position, person_id=row.person_id
    )


def _has_assignment(
    person_id: int, batch_id: int, *, except_state: AssignmentState | None = None
) -> ColumnElement[bool]:
    """Return the condition that the claim's question is assigned to the person.

    Assignments in the state ``except_state`` do not count.
    """
    conditions = [
        AssignmentRow.batch_id == batch_id,
        AssignmentRow.question_id == ClaimRow.question_id,
        AssignmentRow.person_id == person_id,
    ]
    if except_state is not None:
        conditions.append(AssignmentRow.state != except_state.value)
    return exists().where(*conditions)


def _exam_is_busy(person_id: int) -> ColumnElement[bool]:
    """Return the condition that another person works on the claim's exam in the same turn."""
    other_claim = aliased(ClaimRow)
    return exists().where(
        other_claim.batch_id == ClaimRow.batch_id,
        other_claim.exam_id == ClaimRow.exam_id,
        other_claim.turn == ClaimRow.turn,
        other_claim.state == ClaimState.CLAIMED.value,
        other_claim.person_id != person_id,
    )
