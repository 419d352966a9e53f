"""Queries for hidden questions: a reviewer's queue, and sound questions that the reviewer never received."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sqlalchemy import exists, func, select
from sqlmodel import Session

from domain.batches import AssignmentState
from domain.hidden import QueuedQuestion
from domain.verdicts import Decision
from storage.browsing.bulk_actions import select_rejected
from storage.rows.batches import AssignmentRow, BatchQuestionRow
from storage.rows.datasets import ExamRow, ProblemRow, QuestionRow
from storage.rows.hidden import HiddenQuestionRow
from storage.rows.verdicts import VerdictRow

#: The maximum number of sound questions that are loaded, from a position that depends on the seed.
_WINDOW = 2_000


_assignment_state = cache(AssignmentState)  # many rows but few distinct values, so each is converted once


def load_queue(db: Session, *, batch_id: int, person_id: int) -> tuple[QueuedQuestion, ...]:
    """Return the person's questions in the batch, including hidden ones, by position."""
    first_verdicts = (
        select(VerdictRow.question_id, VerdictRow.given_at)
        .where(VerdictRow.batch_id == batch_id, VerdictRow.person_id == person_id, VerdictRow.revision == 1)
        .subquery()
    )
    rows = db.execute(
        select(
            AssignmentRow.question_id,
            QuestionRow.key,
            QuestionRow.exam_id,
            AssignmentRow.position,
            AssignmentRow.state,
            HiddenQuestionRow.question_id.label("hidden"),
            first_verdicts.c.given_at,
        )
        .join(QuestionRow, QuestionRow.id == AssignmentRow.question_id)
        .outerjoin(HiddenQuestionRow, HiddenQuestionRow.question_id == AssignmentRow.question_id)
        .outerjoin(first_verdicts, first_verdicts.c.question_id == AssignmentRow.question_id)
        .where(
            AssignmentRow.batch_id == batch_id,
            AssignmentRow.person_id == person_id,
            AssignmentRow.state != AssignmentState.WITHDRAWN.value,
        )
        .order_by(AssignmentRow.position, AssignmentRow.question_id)
    )
    return tuple(
        QueuedQuestion(
            question_row_id=row_id,
            question_id=key,
            exam_row_id=exam,
            position=position,
            state=_assignment_state(state),
            is_hidden=hidden is not None,
            first_judged_at=judged_at,
        )
        for row_id, key, exam, position, state, hidden, judged_at in rows
    )


def list_open_hidden(db: Session, *, batch_id: int, person_id: int) -> tuple[int, ...]:
    """Return the ids of the person's open hidden questions, by position."""
    statement = (
        select(AssignmentRow.question_id)
        .join(HiddenQuestionRow, HiddenQuestionRow.question_id == AssignmentRow.question_id)
        .where(
            AssignmentRow.batch_id == batch_id,
            AssignmentRow.person_id == person_id,
            AssignmentRow.state == AssignmentState.OPEN.value,
        )
        .order_by(AssignmentRow.position)
    )
    return tuple(db.execute(statement).scalars())


def load_queue_position(db: Session, *, batch_id: int, person_id: int, question_id: int | None) -> int:
    """Return the question's position in the person's queue, or else the last position; 0 if it is empty."""
    in_queue = (AssignmentRow.batch_id == batch_id, AssignmentRow.person_id == person_id)
    if question_id is not None:
        position = db.execute(
            select(AssignmentRow.position).where(*in_queue, AssignmentRow.question_id == question_id)
        ).scalar_one_or_none()
        if position is not None:
            return int(position)
    return int(db.execute(select(func.max(AssignmentRow.position)).where(*in_queue)).scalar_one() or 0)


def load_sound_questions(
    db: Session, *, dataset_id: int, batch_id: int, start: float, person_id: int
) -> list[tuple[int, bool]]:
    """Return (question id, whether it is in the batch) of sound questions that the person never received.

    A question is sound if no check reported a problem, nobody reported an error, and no bulk action rejected
    it. ``start``, from 0 to 1, is the point in the dataset at which the search begins. If too few questions
    follow, the search continues from the beginning of the dataset.
    """
    id_range = select(func.min(QuestionRow.id), func.max(QuestionRow.id))
    low, high = db.execute(id_range.where(QuestionRow.dataset_id == dataset_id)).one()
    if low is None:
        return []
    pivot = low + int(start * (high - low))
    in_batch = exists().where(
        BatchQuestionRow.batch_id == batch_id, BatchQuestionRow.question_id == QuestionRow.id
    )
    # These subqueries do not refer to the outer query, so each is executed once. There is no index by
    # question.
    assigned_ids = select(AssignmentRow.question_id).where(AssignmentRow.person_id == person_id)
    copied_ids = select(HiddenQuestionRow.source_id).where(HiddenQuestionRow.person_id == person_id)
    has_reported_fault = exists().where(
        VerdictRow.question_id == QuestionRow.id,
        (VerdictRow.decision != Decision.ACCEPT.value) | (VerdictRow.errors != "[]"),
    )
    statement = (
        select(QuestionRow.id, in_batch.label("in_batch"))
        .where(
            QuestionRow.dataset_id == dataset_id,
            ~exists().where(ProblemRow.question_id == QuestionRow.id),
            ~has_reported_fault,
            QuestionRow.id.not_in(assigned_ids),
            QuestionRow.id.not_in(copied_ids),
            QuestionRow.id.not_in(select_rejected(dataset_id=dataset_id)),
        )
        .order_by(QuestionRow.id)
    )
    questions = [tuple(row) for row in db.execute(statement.where(QuestionRow.id >= pivot).limit(_WINDOW))]
    if len(questions) < _WINDOW and pivot > low:
        remaining = statement.where(QuestionRow.id < pivot).limit(_WINDOW - len(questions))
        questions += [tuple(row) for row in db.execute(remaining)]
    return [(row_id, bool(is_in_batch)) for row_id, is_in_batch in questions]


def load_reports(db: Session, *, question_row_ids: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Return {question id: (exam id, report)}; the report is "" if there is none."""
    reports: dict[int, tuple[int, str]] = {}
    for start in range(0, len(question_row_ids), 500):
        rows = db.execute(
            select(QuestionRow.id, QuestionRow.exam_id, ExamRow.report)
            .join(ExamRow, ExamRow.id == QuestionRow.exam_id)
            .where(QuestionRow.id.in_(question_row_ids[start : start + 500]))
        )
        reports.update({row.id: (row.exam_id, row.report or "") for row in rows})
    return reports
