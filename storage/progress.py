"""What a batch's progress is counted from: its questions, who has them, what was said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import groupby
from operator import itemgetter

from sqlalchemy import func, select
from sqlmodel import Session

from domain.batches import AssignmentState
from domain.verdicts import Decision, ErrorKind, Verdict
from domain.vocabulary import Difficulty, Task
from storage.codec import errors_from_text
from storage.ordinary import ordinary_question
from storage.rows import AssignmentRow, BatchQuestionRow, QuestionRow, VerdictRow
from storage.verdicts import VERDICT_COLUMNS, verdict_from_columns

# Few values and many rows: each is made once.
_decision, _difficulty, _task = cache(Decision), cache(Difficulty), cache(Task)
_BLOCK = 10_000  # rows that are in memory at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchQuestionFacts:
    """A question of a batch, by what progress is broken down by; ``tier`` is the machine's."""

    question_number: int
    exam_number: int
    tier: Difficulty | None
    task: Task | None
    inclusion_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One person's judgement of one question: the latest verdict, and when and how fast the first came."""

    question_number: int
    person_number: int
    decision: Decision
    errors: frozenset[ErrorKind]
    tier: Difficulty | None
    first_given_at: datetime
    first_seconds_looking: float


def question_facts(db: Session, *, batch_id: int) -> tuple[BatchQuestionFacts, ...]:
    """Every question of the batch, by position."""
    rows = db.execute(
        select(
            BatchQuestionRow.question_id,
            QuestionRow.exam_id,
            QuestionRow.difficulty,
            QuestionRow.task,
            BatchQuestionRow.inclusion_probability,
        )
        .join(QuestionRow, QuestionRow.id == BatchQuestionRow.question_id)
        .where(BatchQuestionRow.batch_id == batch_id)
        .order_by(BatchQuestionRow.position),
        execution_options={"yield_per": _BLOCK},
    )
    return tuple(
        BatchQuestionFacts(
            question_number=row.question_id,
            exam_number=row.exam_id,
            tier=_difficulty(row.difficulty) if row.difficulty else None,
            task=_task(row.task) if row.task else None,
            inclusion_probability=row.inclusion_probability,
        )
        for row in rows
    )


def judged(db: Session, *, batch_id: int) -> Iterator[Judged]:
    """Each (question, person) that has a verdict, by question and person."""
    statement = (
        select(
            VerdictRow.question_id,
            VerdictRow.person_id,
            VerdictRow.decision,
            VerdictRow.errors,
            VerdictRow.difficulty,
            VerdictRow.given_at,
            VerdictRow.seconds_looking,
        )
        .where(VerdictRow.batch_id == batch_id, ordinary_question(VerdictRow.question_id))
        .order_by(VerdictRow.question_id, VerdictRow.person_id, VerdictRow.revision)
    )
    rows = db.execute(statement, execution_options={"yield_per": _BLOCK})
    for (question_number, person_number), group in groupby(rows, key=itemgetter(0, 1)):
        revisions = list(group)
        first, last = revisions[0], revisions[-1]
        yield Judged(
            question_number=question_number,
            person_number=person_number,
            decision=_decision(last.decision),
            errors=errors_from_text(last.errors),
            tier=_difficulty(last.difficulty) if last.difficulty else None,
            first_given_at=first.given_at,
            first_seconds_looking=first.seconds_looking,
        )


def state_counts(db: Session) -> dict[int, dict[AssignmentState, int]]:
    """How many assignments of each batch are in each state, by the batch's number."""
    counts: dict[int, dict[AssignmentState, int]] = {}
    rows = db.execute(
        select(AssignmentRow.batch_id, AssignmentRow.state, func.count())
        .where(ordinary_question(AssignmentRow.question_id))
        .group_by(AssignmentRow.batch_id, AssignmentRow.state)
    )
    for batch_id, state, count in rows:
        counts.setdefault(batch_id, {})[AssignmentState(state)] = count
    return counts


def latest_verdicts(db: Session, *, batch_ids: Sequence[int]) -> Iterator[Verdict]:
    """The latest verdict of each (batch, question, person) of the batches, by question, batch, person."""
    table = VerdictRow.__table__  # type: ignore[attr-defined]  # SQLModel's table
    newest = (
        select(
            VerdictRow.batch_id,
            VerdictRow.question_id,
            VerdictRow.person_id,
            func.max(VerdictRow.revision).label("revision"),
        )
        .where(VerdictRow.batch_id.in_(batch_ids), ordinary_question(VerdictRow.question_id))
        .group_by(VerdictRow.batch_id, VerdictRow.question_id, VerdictRow.person_id)
        .subquery()
    )
    statement = (
        select(*(table.c[name] for name in VERDICT_COLUMNS))
        .join(
            newest,
            (table.c.batch_id == newest.c.batch_id)
            & (table.c.question_id == newest.c.question_id)
            & (table.c.person_id == newest.c.person_id)
            & (table.c.revision == newest.c.revision),
        )
        .order_by(table.c.question_id, table.c.batch_id, table.c.person_id)
    )
    for row in db.execute(statement, execution_options={"yield_per": _BLOCK}):
        yield verdict_from_columns(row)
