"""Reviewers' judgements of hidden questions and of their sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlmodel import Session

from domain.batches import AssignmentState
from domain.hidden import HiddenQuestion
from domain.verdicts import Verdict
from storage.review.hidden import list_hidden_questions
from storage.review.verdicts import verdict_from_row
from storage.rows.batches import AssignmentRow
from storage.rows.datasets import QuestionRow
from storage.rows.verdicts import VerdictRow

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenJudgement:
    """A hidden question with its reviewer's first verdict.

    ``source_verdict`` is the reviewer's first verdict on the source of a repeat. ``source_question_id``
    is the id of the source question in the imported file. ``state`` is None until the question is assigned.
    """

    hidden: HiddenQuestion
    source_question_id: str
    exam_row_id: int
    state: AssignmentState | None
    verdict: Verdict | None
    source_verdict: Verdict | None


def load_hidden_judgements(db: Session, *, batch_id: int) -> tuple[HiddenJudgement, ...]:
    """Return every hidden question of the batch, including removed ones, ordered by id."""
    hidden = list_hidden_questions(db, batch_id=batch_id)
    numbers = {question.question_row_id for question in hidden} | {
        question.source_question_row_id for question in hidden
    }
    verdicts = _load_first_verdicts(db, batch_id, numbers)
    sources = _load_sources(db, {question.source_question_row_id for question in hidden})
    states = dict(_load_states(db, batch_id, {question.question_row_id for question in hidden}))
    return tuple(
        HiddenJudgement(
            hidden=question,
            source_question_id=sources[question.source_question_row_id][0],
            exam_row_id=sources[question.source_question_row_id][1],
            state=states.get(question.question_row_id),
            verdict=verdicts.get((question.question_row_id, question.person_id)),
            source_verdict=None
            if question.fault
            else verdicts.get((question.source_question_row_id, question.person_id)),
        )
        for question in hidden
    )


def load_first_judgement_times(db: Session, *, batch_id: int) -> dict[int, list[datetime]]:
    """Return the sorted times of each person's first verdicts in the batch, including hidden questions."""
    rows = db.execute(
        select(VerdictRow.person_id, VerdictRow.given_at)
        .where(VerdictRow.batch_id == batch_id, VerdictRow.revision == 1)
        .order_by(VerdictRow.person_id, VerdictRow.given_at)
    )
    times: dict[int, list[datetime]] = {}
    for person_id, given_at in rows:
        times.setdefault(person_id, []).append(given_at)
    return times


def _load_first_verdicts(db: Session, batch_id: int, numbers: set[int]) -> dict[tuple[int, int], Verdict]:
    verdicts = {}
    for chunk in _chunks(numbers):
        rows = db.execute(
            select(*VerdictRow.__table__.c).where(
                VerdictRow.batch_id == batch_id,
                VerdictRow.question_id.in_(chunk),
                VerdictRow.revision == 1,
            )
        )
        verdicts.update({(row.question_id, row.person_id): verdict_from_row(row) for row in rows})
    return verdicts


def _load_sources(db: Session, numbers: set[int]) -> dict[int, tuple[str, int]]:
    sources: dict[int, tuple[str, int]] = {}
    for chunk in _chunks(numbers):
        rows = db.execute(
            select(QuestionRow.id, QuestionRow.key, QuestionRow.exam_id).where(QuestionRow.id.in_(chunk))
        )
        sources.update({row.id: (row.key, row.exam_id) for row in rows})
    return sources


def _load_states(db: Session, batch_id: int, numbers: set[int]) -> Iterable[tuple[int, AssignmentState]]:
    for chunk in _chunks(numbers):
        rows = db.execute(
            select(AssignmentRow.question_id, AssignmentRow.state).where(
                AssignmentRow.batch_id == batch_id, AssignmentRow.question_id.in_(chunk)
            )
        )
        yield from ((number, AssignmentState(state)) for number, state in rows)


def _chunks(numbers: set[int]) -> Iterable[list[int]]:
    ordered = sorted(numbers)
    for start in range(0, len(ordered), _CHUNK):
        yield ordered[start : start + _CHUNK]
