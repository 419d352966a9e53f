"""What became of the questions of batches: what an estimate of the whole dataset stands on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlmodel import Session

from domain.batches import AssignmentState
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty
from storage.codec import from_json
from storage.ordinary import ordinary_question
from storage.rows import AdjudicationRow, AssignmentRow, BatchQuestionRow, QuestionRow, VerdictRow

_BLOCK = 10_000  # rows that are in memory at a time
_KEY_FIELDS = ("answer", "also_right")
#: What the questions of a dataset may be told apart by, beside the tier.
FEATURES = ("task", "category", "generator", "prompt_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFacts:
    """A drawn question: its exam, tier, and its values of :data:`FEATURES`, "" where it has none."""

    number: int
    exam_number: int
    tier: Difficulty | None
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one person last said of a question in one batch; ``key_changed``: its key was corrected."""

    batch_id: int
    person_id: int
    decision: Decision
    errors: frozenset[ErrorKind]
    key_changed: bool
    given_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The adjudication that stands; ``follows`` are the people whose verdict it takes over whole."""

    batch_id: int
    decision: Decision
    follows: tuple[int, ...]
    key_changed: bool
    given_at: datetime


def drawn_facts(db: Session, *, batch_ids: Sequence[int]) -> dict[int, DrawnFacts]:
    """Every question of these batches, once, by its number."""
    of_batches = select(BatchQuestionRow.question_id).where(BatchQuestionRow.batch_id.in_(batch_ids))  # type: ignore[attr-defined]  # a column
    columns = [getattr(QuestionRow, name) for name in FEATURES]
    statement = (
        select(QuestionRow.id, QuestionRow.exam_id, QuestionRow.difficulty, *columns)
        .where(QuestionRow.id.in_(of_batches))  # type: ignore[attr-defined]  # a column
        .order_by(QuestionRow.id)
    )
    return {
        row[0]: DrawnFacts(
            number=row[0],
            exam_number=row[1],
            tier=Difficulty(row[2]) if row[2] else None,
            features=tuple(value or "" for value in row[3:]),
        )
        for row in db.execute(statement, execution_options={"yield_per": _BLOCK})
    }


def said_of(db: Session, *, batch_ids: Sequence[int]) -> dict[int, tuple[Said, ...]]:
    """Everybody's latest verdict on each judged question; of several batches the one given last."""
    statement = (
        select(
            VerdictRow.question_id,
            VerdictRow.person_id,
            VerdictRow.batch_id,
            VerdictRow.decision,
            VerdictRow.errors,
            VerdictRow.correction,
            VerdictRow.given_at,
        )
        .where(
            VerdictRow.batch_id.in_(batch_ids),  # type: ignore[attr-defined]  # a column
            ordinary_question(VerdictRow.question_id),
        )
        .order_by(VerdictRow.question_id, VerdictRow.batch_id, VerdictRow.person_id, VerdictRow.revision)
    )
    last: dict[int, dict[tuple[int, int], tuple]] = defaultdict(dict)
    for row in db.execute(statement, execution_options={"yield_per": _BLOCK}):
        last[row[0]][row[1], row[2]] = row  # a higher revision comes later
    found = {}
    for number, rows in last.items():
        by_person: dict[int, tuple] = {}
        for row in rows.values():
            before = by_person.get(row[1])
            if before is None or before[6] <= row[6]:
                by_person[row[1]] = row
        found[number] = tuple(_said(row) for row in by_person.values())
    return found


def settlements(db: Session, *, batch_ids: Sequence[int]) -> dict[int, Settled]:
    """The adjudication of each question that has one: the highest revision, of several batches the latest."""
    statement = (
        select(
            AdjudicationRow.question_id,
            AdjudicationRow.batch_id,
            AdjudicationRow.decision,
            AdjudicationRow.follows,
            AdjudicationRow.correction,
            AdjudicationRow.given_at,
        )
        .where(AdjudicationRow.batch_id.in_(batch_ids))  # type: ignore[attr-defined]  # a column
        .order_by(AdjudicationRow.given_at, AdjudicationRow.revision)
    )
    return {
        row[0]: Settled(
            batch_id=row[1],
            decision=Decision(row[2]),
            follows=tuple(from_json(row[3])),
            key_changed=_changes_key(row[4]),
            given_at=row[5],
        )
        for row in db.execute(statement)
    }


def put_aside(db: Session, *, batch_ids: Sequence[int]) -> set[int]:
    """Questions that somebody has skipped and not taken up again."""
    statement = (
        select(AssignmentRow.question_id)
        .where(
            AssignmentRow.batch_id.in_(batch_ids),  # type: ignore[attr-defined]  # a column
            AssignmentRow.state == AssignmentState.SKIPPED.value,
            ordinary_question(AssignmentRow.question_id),
        )
        .distinct()
    )
    return set(db.execute(statement).scalars())


def _said(row: tuple) -> Said:
    return Said(
        batch_id=row[2],
        person_id=row[1],
        decision=Decision(row[3]),
        errors=frozenset(ErrorKind(each) for each in from_json(row[4])) if row[4] != "[]" else frozenset(),
        key_changed=_changes_key(row[5]),
        given_at=row[6],
    )


def _changes_key(correction: str) -> bool:
    return correction != "{}" and any(name in from_json(correction) for name in _KEY_FIELDS)
