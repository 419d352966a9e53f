"""Storage of claims: who temporarily holds which question of a shared queue.

On PostgreSQL, locked rows are skipped.
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
from storage.rows import AssignmentRow, ClaimRow
from storage.types import AnySelect, affected_rows

#: How often a queue is searched while other transactions hold locks on all claims in it.
_LOOKS = 5


class ClaimState(StrEnum):
    """The state of one judgement requested by a shared queue."""

    FREE = "free"
    CLAIMED = "claimed"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One requested judgement; ``person_id`` is the person who holds or held it."""

    question_number: int
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
    beside_exam: int | None,
    expires_at: datetime,
    now: datetime,
) -> Claim | None:
    """Assign the next judgement of the queue to the person, and return it as it was before.

    The order of preference is: a judgement about the exam ``beside_exam``; one about an exam on which nobody
    else is working; any other; an expired claim; last, one that the person held before and lost or returned.
    The result is None if the person can take none now.

    Rows locked by other transactions are skipped, because waiting with a lock could cause a deadlock. If only
    locked rows are left, the search is repeated a few times.
    """
    mine = _touched(person_id, batch_id)
    given_up = _touched(person_id, batch_id, but=AssignmentState.WITHDRAWN)
    free = and_(ClaimRow.batch_id == batch_id, ClaimRow.state == ClaimState.FREE)
    run_out = and_(
        ClaimRow.batch_id == batch_id,
        ClaimRow.state == ClaimState.CLAIMED,
        ClaimRow.expires_at <= now,
        ClaimRow.person_id != person_id,
    )
    in_order, first_run_out = (ClaimRow.turn, ClaimRow.position), (ClaimRow.expires_at, ClaimRow.position)
    ways: list[tuple[ColumnElement[bool], Sequence[Any]]] = [
        (and_(free, ~mine, ~_exam_is_busy(person_id)), in_order),
        (and_(free, ~mine), in_order),
        (and_(run_out, ~mine), first_run_out),
        (and_(free, ~given_up), in_order),
        (and_(run_out, ~given_up), first_run_out),
    ]
    if beside_exam is not None:
        ways.insert(0, (and_(free, ~mine, ClaimRow.exam_id == beside_exam), in_order))
    for _ in range(_LOOKS):
        for where, order in ways:
            found = _first(db, where, order)
            if found is not None:
                _give(db, found, batch_id=batch_id, person_id=person_id, expires_at=expires_at)
                return found
        anything = select(ClaimRow.turn).where(or_(and_(free, ~given_up), and_(run_out, ~given_up))).limit(1)
        if db.execute(anything).first() is None:
            break
    return None


def renew(db: Session, *, batch_id: int, question_id: int, person_id: int, expires_at: datetime) -> bool:
    """Extend the person's claim on the question; return False if the person does not hold it."""
    done = db.execute(
        update(ClaimRow)
        .where(_held(batch_id, person_id), ClaimRow.question_id == question_id)
        .values(expires_at=expires_at)
    )
    return affected_rows(done) > 0


def take_again(
    db: Session, *, batch_id: int, question_id: int, person_id: int, expires_at: datetime, now: datetime
) -> bool:
    """Assign a free judgement of that question to the person, who held it before; False if none is free."""
    where = and_(
        ClaimRow.batch_id == batch_id,
        ClaimRow.question_id == question_id,
        or_(
            ClaimRow.state == ClaimState.FREE,
            and_(ClaimRow.state == ClaimState.CLAIMED, ClaimRow.expires_at <= now),
        ),
    )
    found = _first(db, where, (ClaimRow.turn,))
    if found is None:
        return False
    _give(db, found, batch_id=batch_id, person_id=person_id, expires_at=expires_at)
    return True


def finish(db: Session, *, batch_id: int, question_id: int, person_id: int) -> None:
    """Mark the person's claim on the question as done."""
    db.execute(
        update(ClaimRow)
        .where(_held(batch_id, person_id), ClaimRow.question_id == question_id)
        .values(state=ClaimState.DONE.value, expires_at=None)
    )


def release(db: Session, *, batch_id: int, person_id: int, question_id: int | None = None) -> int:
    """Return the person's claim on the question, or all their claims, to the queue; return their number."""
    which = [_held(batch_id, person_id)]
    if question_id is not None:
        which.append(ClaimRow.question_id == question_id)
    free = {"state": ClaimState.FREE.value, "person_id": None, "expires_at": None}
    return affected_rows(db.execute(update(ClaimRow).where(*which).values(**free)))


def held_claims(db: Session, *, batch_id: int, person_id: int) -> tuple[int, ...]:
    """Return the numbers of the questions that the person has claimed, by position."""
    rows = db.execute(
        select(ClaimRow.question_id).where(_held(batch_id, person_id)).order_by(ClaimRow.position)
    )
    return tuple(rows.scalars())


def others_hold(db: Session, *, batch_id: int, person_id: int) -> datetime | None:
    """Return the earliest expiry of others' claims that the person could then take; None if there is none."""
    return db.execute(
        select(func.min(ClaimRow.expires_at)).where(
            ClaimRow.batch_id == batch_id,
            ClaimRow.state == ClaimState.CLAIMED,
            ClaimRow.person_id != person_id,
            ~_touched(person_id, batch_id, but=AssignmentState.WITHDRAWN),
        )
    ).scalar_one_or_none()


def count_claims(db: Session, *, batch_id: int) -> ClaimCounts:
    """Count the judgements of the queue by state."""
    rows = db.execute(
        select(ClaimRow.state, func.count()).where(ClaimRow.batch_id == batch_id).group_by(ClaimRow.state)
    )
    found = dict(rows.all())
    return ClaimCounts(**{state.value: found.get(state.value, 0) for state in ClaimState})


def count_takeable(db: Session, *, batch_id: int, person_id: int) -> int:
    """Return the number of free questions to which the person has no assignment, except a withdrawn one."""
    return int(
        db.execute(
            select(func.count(func.distinct(ClaimRow.question_id))).where(
                ClaimRow.batch_id == batch_id,
                ClaimRow.state == ClaimState.FREE,
                ~_touched(person_id, batch_id, but=AssignmentState.WITHDRAWN),
            )
        ).scalar_one()
    )


def has_free_on_exam(db: Session, *, batch_id: int, person_id: int, exam_number: int) -> bool:
    """Return whether the person can take a free judgement about that exam."""
    return (
        db.execute(
            select(ClaimRow.turn)
            .where(
                ClaimRow.batch_id == batch_id,
                ClaimRow.exam_id == exam_number,
                ClaimRow.state == ClaimState.FREE,
                ~_touched(person_id, batch_id),
            )
            .limit(1)
        ).first()
        is not None
    )


def free_ahead(db: Session, *, batch_id: int, person_id: int, limit: int) -> tuple[int, ...]:
    """Return the exam numbers of the next free judgements that the person can take, for preloading."""
    rows = db.execute(
        select(ClaimRow.exam_id)
        .where(
            ClaimRow.batch_id == batch_id,
            ClaimRow.state == ClaimState.FREE,
            ~_touched(person_id, batch_id),
            ~_exam_is_busy(person_id),
        )
        .order_by(ClaimRow.turn, ClaimRow.position)
        .limit(limit)
    )
    return tuple(dict.fromkeys(rows.scalars()))


def _give(db: Session, claim: Claim, *, batch_id: int, person_id: int, expires_at: datetime) -> None:
    db.execute(
        update(ClaimRow)
        .where(
            ClaimRow.batch_id == batch_id,
            ClaimRow.question_id == claim.question_number,
            ClaimRow.turn == claim.turn,
        )
        .values(state=ClaimState.CLAIMED.value, person_id=person_id, expires_at=expires_at)
    )


def _held(batch_id: int, person_id: int) -> ColumnElement[bool]:
    return and_(
        ClaimRow.batch_id == batch_id,
        ClaimRow.person_id == person_id,
        ClaimRow.state == ClaimState.CLAIMED,
    )


def _first(db: Session, where: ColumnElement[bool], order: Sequence[Any]) -> Claim | None:
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
        question_number=row.question_id, turn=row.turn, position=row.position, person_id=row.person_id
    )


def _touched(person_id: int, batch_id: int, *, but: AssignmentState | None = None) -> ColumnElement[bool]:
    """Return the condition that the person has an assignment to the claim's question not in state ``but``."""
    mine = [
        AssignmentRow.batch_id == batch_id,
        AssignmentRow.question_id == ClaimRow.question_id,
        AssignmentRow.person_id == person_id,
    ]
    if but is not None:
        mine.append(AssignmentRow.state != but.value)
    return exists().where(*mine)


def _exam_is_busy(person_id: int) -> ColumnElement[bool]:
    """Return the condition that another person works on the claim's exam in the same turn."""
    other = aliased(ClaimRow)
    return exists().where(
        other.batch_id == ClaimRow.batch_id,
        other.exam_id == ClaimRow.exam_id,
        other.turn == ClaimRow.turn,
        other.state == ClaimState.CLAIMED.value,
        other.person_id != person_id,
    )
