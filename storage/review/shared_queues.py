"""Storage of shared queues: batches whose questions go to the next free person of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, func, insert, select, update
from sqlmodel import Session

from domain.batches import AssignmentState
from storage.review.claims import ClaimState
from storage.rows.batches import AssignmentRow, BatchQuestionRow
from storage.rows.claims import ClaimRow, PoolMemberRow, SharedQueueRow
from storage.rows.datasets import QuestionRow
from storage.types import affected_rows

# Built once, because every verdict executes these.
_SELECT_MEMBER = select(PoolMemberRow.person_id).where(
    PoolMemberRow.batch_id == bindparam("batch_id"),
    PoolMemberRow.person_id == bindparam("person_id"),
    PoolMemberRow.left_at.is_(None),
)
_LOCK_MEMBER = _SELECT_MEMBER.with_for_update()
_SELECT_POOLS = (
    select(PoolMemberRow.batch_id)
    .where(PoolMemberRow.person_id == bindparam("person_id"), PoolMemberRow.left_at.is_(None))
    .order_by(PoolMemberRow.batch_id)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedQueue:
    """The settings of a shared queue.

    ``overlap`` is the number of people per question. A claim expires after ``idle_timeout``.
    """

    overlap: int
    idle_timeout: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueQuestion:
    """A question in the queue of a batch.

    ``turns`` is the number of requested judgements; ``free`` of them are not claimed.
    """

    question_row_id: int
    exam_row_id: int
    position: int
    turns: int
    free: int


def find_shared_queue(db: Session, *, batch_id: int) -> SharedQueue | None:
    """Return the batch's shared queue; None if it has none."""
    row = db.get(SharedQueueRow, batch_id)
    if row is None:
        return None
    return SharedQueue(overlap=row.overlap, idle_timeout=timedelta(minutes=row.idle_minutes))


def save_queue(db: Session, *, batch_id: int, queue: SharedQueue) -> None:
    """Add a shared queue to the batch, or change the existing one."""
    row = db.get(SharedQueueRow, batch_id) or SharedQueueRow(batch_id=batch_id, overlap=1, idle_minutes=1)
    row.overlap, row.idle_minutes = queue.overlap, round(queue.idle_timeout.total_seconds() / 60)
    db.add(row)
    db.flush()


def is_member(db: Session, *, batch_id: int, person_id: int, lock: bool = False) -> bool:
    """Return whether the person is in the batch's pool. With ``lock`` the person's other claims wait."""
    values = {"batch_id": batch_id, "person_id": person_id}
    return db.execute(_LOCK_MEMBER if lock else _SELECT_MEMBER, values).first() is not None


def list_queue_members(db: Session, *, batch_id: int) -> tuple[int, ...]:
    """Return the ids of the people in the batch's pool."""
    rows = db.execute(
        select(PoolMemberRow.person_id)
        .where(PoolMemberRow.batch_id == batch_id, PoolMemberRow.left_at.is_(None))
        .order_by(PoolMemberRow.person_id)
    )
    return tuple(rows.scalars())


def add_pool_members(db: Session, *, batch_id: int, person_ids: Iterable[int], now: datetime) -> list[int]:
    """Add these people to the batch's pool, including people who left it; return who was not in it."""
    added = []
    for person_id in person_ids:
        row = db.get(PoolMemberRow, (batch_id, person_id))
        if row is None:
            row = PoolMemberRow(batch_id=batch_id, person_id=person_id, joined_at=now)
            added.append(person_id)
        elif row.left_at is not None:
            added.append(person_id)
        row.left_at = None
        db.add(row)
    db.flush()
    return added


def remove_pool_member(db: Session, *, batch_id: int, person_id: int, now: datetime) -> bool:
    """Remove the person from the batch's pool; return False if they were not in it."""
    result = db.execute(
        update(PoolMemberRow)
        .where(
            PoolMemberRow.batch_id == batch_id,
            PoolMemberRow.person_id == person_id,
            PoolMemberRow.left_at.is_(None),
        )
        .values(left_at=now)
    )
    return affected_rows(result) > 0


def list_shared_queues_of_person(db: Session, *, person_id: int) -> tuple[int, ...]:
    """Return the ids of the batches whose pool contains the person, the oldest first."""
    return tuple(db.execute(_SELECT_POOLS, {"person_id": person_id}).scalars())


def list_batches_with_shared_queue(db: Session) -> frozenset[int]:
    """Return the ids of the batches whose pool is not empty."""
    rows = db.execute(select(PoolMemberRow.batch_id).where(PoolMemberRow.left_at.is_(None)).distinct())
    return frozenset(rows.scalars())


def pool_has_exam(db: Session, *, person_id: int, exam_row_id: int) -> bool:
    """Return whether the person is in the pool of a queue that requests a judgement about that exam."""
    statement = (
        select(ClaimRow.turn)
        .join(PoolMemberRow, PoolMemberRow.batch_id == ClaimRow.batch_id)
        .where(
            PoolMemberRow.person_id == person_id,
            PoolMemberRow.left_at.is_(None),
            ClaimRow.exam_id == exam_row_id,
        )
        .limit(1)
    )
    return db.execute(statement).first() is not None


def count_unassigned(db: Session, *, batch_id: int) -> int:
    """Return how many questions of the batch are not assigned and not in a queue with a non-empty pool."""
    is_assigned = (
        select(AssignmentRow.question_id)
        .where(
            AssignmentRow.batch_id == batch_id,
            AssignmentRow.question_id == BatchQuestionRow.question_id,
            AssignmentRow.state != AssignmentState.WITHDRAWN.value,
        )
        .exists()
    )
    is_queued = (
        select(ClaimRow.question_id)
        .join(PoolMemberRow, PoolMemberRow.batch_id == ClaimRow.batch_id)
        .where(
            ClaimRow.batch_id == batch_id,
            ClaimRow.question_id == BatchQuestionRow.question_id,
            PoolMemberRow.left_at.is_(None),
        )
        .exists()
    )
    statement = select(func.count()).where(BatchQuestionRow.batch_id == batch_id, ~is_assigned, ~is_queued)
    return int(db.execute(statement).scalar_one())


def list_queue_questions(db: Session, *, batch_id: int) -> tuple[QueueQuestion, ...]:
    """Return every question of the batch with the judgements that the queue already requests, by position."""
    claim_counts = (
        select(
            ClaimRow.question_id,
            func.max(ClaimRow.turn).label("turns"),
            func.count().filter(ClaimRow.state == ClaimState.FREE).label("free"),
        )
        .where(ClaimRow.batch_id == batch_id)
        .group_by(ClaimRow.question_id)
        .subquery()
    )
    rows = db.execute(
        select(
            BatchQuestionRow.question_id,
            QuestionRow.exam_id,
            BatchQuestionRow.position,
            func.coalesce(claim_counts.c.turns, 0),
            func.coalesce(claim_counts.c.free, 0),
        )
        .join(QuestionRow, QuestionRow.id == BatchQuestionRow.question_id)
        .outerjoin(claim_counts, claim_counts.c.question_id == BatchQuestionRow.question_id)
        .where(BatchQuestionRow.batch_id == batch_id)
        .order_by(BatchQuestionRow.position)
    )
    return tuple(
        QueueQuestion(question_row_id=number, exam_row_id=exam, position=position, turns=turns, free=free)
        for number, exam, position, turns, free in rows
    )


def count_free_by_question(db: Session, *, batch_id: int) -> dict[int, int]:
    """Return how many judgements the queue still requests, by question; empty if its pool is empty."""
    if not list_queue_members(db, batch_id=batch_id):
        return {}
    return {
        question.question_row_id: question.free
        for question in list_queue_questions(db, batch_id=batch_id)
        if question.free
    }


def add_free_judgements(db: Session, *, batch_id: int, requests: Sequence[tuple[QueueQuestion, int]]) -> None:
    """Add free judgements to the queue, given as (question, number of additional judgements)."""
    rows = [
        {
            "batch_id": batch_id,
            "question_id": question.question_row_id,
            "turn": question.turns + offset,
            "exam_id": question.exam_row_id,
            "position": question.position,
            "state": ClaimState.FREE.value,
        }
        for question, count in requests
        for offset in range(1, count + 1)
    ]
    if rows:
        db.execute(insert(ClaimRow), rows)
