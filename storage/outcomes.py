"""What became of the questions of batches: what an estimate of the whole dataset stands on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Select, select
from sqlmodel import Session

from domain.batches import AssignmentState
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty
from storage.codec import errors_from_text, from_json
from storage.ordinary import ordinary_question
from storage.rows import AdjudicationRow, AssignmentRow, BatchQuestionRow, QuestionRow, VerdictRow

# Few values and many rows: each is made once.
_decision, _difficulty = cache(Decision), cache(Difficulty)
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
    # Columns of the table, not of the class: the ORM would look at every value of every row again.
    table = QuestionRow.__table__.c  # type: ignore[attr-defined]  # SQLModel's table
    statement = (
        select(table.id, table.exam_id, table.difficulty, *(table[name] for name in FEATURES))
        .where(table.id.in_(of_batches))
        .order_by(table.id)
    )
    return {
        number: DrawnFacts(
            number=number,
            exam_number=exam,
            tier=_difficulty(tier) if tier else None,
            features=tuple([value or "" for value in features]),
        )
        for number, exam, tier, *features in _rows(db, statement)
    }


def said_of(db: Session, *, batch_ids: Sequence[int]) -> dict[int, tuple[Said, ...]]:
    """Everybody's latest verdict on each judged question; of several batches the one given last."""
    table = VerdictRow.__table__.c  # type: ignore[attr-defined]  # SQLModel's table
    statement = (
        select(
            table.question_id, table.person_id, table.batch_id, table.decision, table.errors,
            table.correction, table.given_at,
        )
        .where(table.batch_id.in_(batch_ids), ordinary_question(table.question_id))
        .order_by(table.question_id, table.batch_id, table.person_id, table.revision)
    )  # fmt: skip
    found = {}
    for number, given in groupby(_rows(db, statement), key=itemgetter(0)):
        rows = list(given)
        found[number] = tuple([_said(row) for row in (rows if len(rows) == 1 else _last_of_each(rows))])
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


def _rows(db: Session, statement: Select[Any]) -> Iterator[Sequence[Any]]:
    """The rows, some at a time, and past the ORM, which would look at every value of every row again."""
    db.flush()  # a connection does not see to it
    result = db.connection().execute(statement, execution_options={"yield_per": _BLOCK})
    return chain.from_iterable(result.partitions())


def _last_of_each(rows: Sequence[Any]) -> Iterable[Any]:
    """Of one question's rows the one of each person that counts."""
    newest = {(row[1], row[2]): row for row in rows}  # a higher revision comes later
    by_person: dict[int, Any] = {}
    for row in newest.values():
        before = by_person.get(row[1])
        if before is None or before[6] <= row[6]:
            by_person[row[1]] = row
    return by_person.values()


def _said(row: Sequence[Any]) -> Said:
    return Said(
        batch_id=row[2],
        person_id=row[1],
        decision=_decision(row[3]),
        errors=errors_from_text(row[4]),
        key_changed=_changes_key(row[5]),
        given_at=row[6],
    )


def _changes_key(correction: str) -> bool:
    return correction != "{}" and any(name in from_json(correction) for name in _KEY_FIELDS)
