"""Data from which a batch's progress is computed: its questions and their assignments."""

from __future__ import annotations

import numpy as np
from sqlalchemy import func, select
from sqlmodel import Session

from domain.batches import AssignmentState
from records.columns import STATES, TASKS, TIERS, AssignmentColumns, QuestionColumns
from storage.review.latest_verdicts import read_columns, to_indices
from storage.rows.batches import AssignmentRow, BatchQuestionRow
from storage.rows.datasets import QuestionRow
from storage.sampling.exclude_copies import exclude_hidden


def load_batch_columns(db: Session, *, batch_id: int) -> QuestionColumns:
    """Return the questions of the batch, by position."""
    batch_question, question = BatchQuestionRow.__table__.c, QuestionRow.__table__.c
    statement = (
        select(
            batch_question.question_id, question.exam_id, question.difficulty, question.task,
            batch_question.inclusion_probability,
        )
        .join_from(BatchQuestionRow, QuestionRow, question.id == batch_question.question_id)
        .where(batch_question.batch_id == batch_id)
        .order_by(batch_question.position)
    )  # fmt: skip
    numbers, exams, tiers, tasks, probabilities = read_columns(db, statement)
    return QuestionColumns(
        numbers=np.array(numbers, dtype=np.int64),
        exams=np.array(exams, dtype=np.int64),
        tiers=to_indices(tiers, TIERS),
        tasks=to_indices(tasks, TASKS),
        inclusion_probabilities=np.array(probabilities, dtype=np.float64),
    )


def load_assignment_columns(db: Session, *, batch_id: int) -> AssignmentColumns:
    """Return every assignment that was not withdrawn, without hidden questions."""
    table = AssignmentRow.__table__.c
    statement = select(table.question_id, table.person_id, table.state).where(
        table.batch_id == batch_id,
        table.state != AssignmentState.WITHDRAWN.value,
        exclude_hidden(table.question_id),
    )
    questions, people, states = read_columns(db, statement)
    return AssignmentColumns(
        questions=np.array(questions, dtype=np.int64),
        people=np.array(people, dtype=np.int64),
        states=to_indices(states, STATES),
    )


def count_assignments_by_state(db: Session) -> dict[int, dict[AssignmentState, int]]:
    """Return {batch id: {state: number of assignments}}, without hidden questions."""
    counts: dict[int, dict[AssignmentState, int]] = {}
    rows = db.execute(
        select(AssignmentRow.batch_id, AssignmentRow.state, func.count())
        .where(exclude_hidden(AssignmentRow.question_id))
        .group_by(AssignmentRow.batch_id, AssignmentRow.state)
    )
    for batch_id, state, count in rows:
        counts.setdefault(batch_id, {})[AssignmentState(state)] = count
    return counts
