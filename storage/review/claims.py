"""Claims: which question of a shared queue is whose for the moment. PostgreSQL skips rows that are locked."""

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

#: How often a queue is looked through while all that it has is in the hands of other transactions.
_LOOKS = 5


class ClaimState(StrEnum):
    """Where one judgement that a shared queue asks for is."""

    FREE = "free"
    CLAIMED = "claimed"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One judgement that is asked for; ``person_id`` is who holds or held it."""

    question_number: int
    turn: int
    position: int
    person_id: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimCounts:
    """Judgements of a shared queue by where they are."""

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
    """Make the next judgement of the queue the person's, and give it as it was before.

    First one about the exam they have been on, then one about an exam that nobody else is on, then any, then
    one whose time ran out; last of all what they had before and lost or handed back. None: there is none that
    they could take now.

    What somebody else is about to take is passed over, never waited for: who waits holding a lock may be
    waited for in turn. Where that leaves nothing, it is looked for again a few times.
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
    """Give the person's claim on the question its full time again; False where it is not theirs."""
    done = db.execute(
        update(ClaimRow)
        .where(_held(batch_id, person_id), ClaimRow.question_id == question_id)
        .values(expires_at=expires_at)
    )
    return affected_rows(done) > 0


def take_again(
    db: Session, *, batch_id: int, question_id: int, person_id: int, expires_at: datetime, now: datetime
) -> bool:
    """Make a free judgement of that question the person's, who had it before; False where there is none."""
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
    """The person's claim on the question has become a judgement."""
    db.execute(
        update(ClaimRow)
        .where(_held(batch_id, person_id), ClaimRow.question_id == question_id)
        .values(state=ClaimState.DONE.value, expires_at=None)
    )


def release(db: Session, *, batch_id: int, person_id: int, question_id: int | None = None) -> int:
    """Put the person's claim on the question, or all of theirs, back into the queue; how many."""
    which = [_held(batch_id, person_id)]
    if question_id is not None:
        which.append(ClaimRow.question_id == question_id)
    free = {"state": ClaimState.FREE.value, "person_id": None, "expires_at": None}
    return affected_rows(db.execute(update(ClaimRow).where(*which).values(**free)))


def held_claims(db: Session, *, batch_id: int, person_id: int) -> tuple[int, ...]:
    """Numbers of the questions that are claimed by the person, by position."""
    rows = db.execute(
        select(ClaimRow.question_id).where(_held(batch_id, person_id)).order_by(ClaimRow.position)
    )
    return tuple(rows.scalars())


def others_hold(db: Session, *, batch_id: int, person_id: int) -> datetime | None:
    """When the first claim of somebody else runs out that the person could take then; None: there is none."""
    return db.execute(
        select(func.min(ClaimRow.expires_at)).where(
            ClaimRow.batch_id == batch_id,
            ClaimRow.state == ClaimState.CLAIMED,
            ClaimRow.person_id != person_id,
            ~_touched(person_id, batch_id, but=AssignmentState.WITHDRAWN),
        )
    ).scalar_one_or_none()


def count_claims(db: Session, *, batch_id: int) -> ClaimCounts:
    """How many judgements of the queue are where."""
    rows = db.execute(
        select(ClaimRow.state, func.count()).where(ClaimRow.batch_id == batch_id).group_by(ClaimRow.state)
    )
    found = dict(rows.all())
    return ClaimCounts(**{state.value: found.get(state.value, 0) for state in ClaimState})


def count_takeable(db: Session, *, batch_id: int, person_id: int) -> int:
    """How many questions are free that the person has nothing to do with yet."""
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
    """Whether a judgement about that exam is free that the person could take."""
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
    """Exam numbers of the next free judgements that the person could take: likely the next ones."""
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
        .with_for_update(of=ClaimRow, skip_locked=True)  # SQLite: BEGIN IMMEDIATE has done it already
    )
    row = db.execute(statement).first()
    if row is None:
        return None
    return Claim(
        question_number=row.question_id, turn=row.turn, position=row.position, person_id=row.person_id
    )


def _touched(person_id: int, batch_id: int, *, but: AssignmentState | None = None) -> ColumnElement[bool]:
    """Whether the question of the claim is or was the person's; ``but`` in that state does not count."""
    mine = [
        AssignmentRow.batch_id == batch_id,
        AssignmentRow.question_id == ClaimRow.question_id,
        AssignmentRow.person_id == person_id,
    ]
    if but is not None:
        mine.append(AssignmentRow.state != but.value)
    return exists().where(*mine)


def _exam_is_busy(person_id: int) -> ColumnElement[bool]:
    """Whether somebody else is on the exam of the claim, in the same turn."""
    other = aliased(ClaimRow)
    return exists().where(
        other.batch_id == ClaimRow.batch_id,
        other.exam_id == ClaimRow.exam_id,
        other.turn == ClaimRow.turn,
        other.state == ClaimState.CLAIMED.value,
        other.person_id != person_id,
    )
