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
from storage.review.hidden import hidden_questions
from storage.review.verdicts import verdict_from_row
from storage.rows import AssignmentRow, QuestionRow, VerdictRow

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenJudged:
    """A hidden question with its reviewer's first judgement; ``first`` is that of a repeat's source.

    ``source_key`` is the id of the source question. ``state`` is None until the question is assigned.
    """

    hidden: HiddenQuestion
    source_key: str
    exam_number: int
    state: AssignmentState | None
    verdict: Verdict | None
    first: Verdict | None


def hidden_judged(db: Session, *, batch_id: int) -> tuple[HiddenJudged, ...]:
    """Return every hidden question of the batch, including removed ones, by number."""
    there = hidden_questions(db, batch_id=batch_id)
    numbers = {each.number for each in there} | {each.source for each in there}
    verdicts = _first_verdicts(db, batch_id, numbers)
    facts = _facts(db, {each.source for each in there})
    states = dict(_states(db, batch_id, {each.number for each in there}))
    return tuple(
        HiddenJudged(
            hidden=each,
            source_key=facts[each.source][0],
            exam_number=facts[each.source][1],
            state=states.get(each.number),
            verdict=verdicts.get((each.number, each.person_id)),
            first=None if each.fault else verdicts.get((each.source, each.person_id)),
        )
        for each in there
    )


def first_times(db: Session, *, batch_id: int) -> dict[int, list[datetime]]:
    """Return the sorted times of first verdicts in the batch, by person, including hidden questions."""
    rows = db.execute(
        select(VerdictRow.person_id, VerdictRow.given_at)
        .where(VerdictRow.batch_id == batch_id, VerdictRow.revision == 1)
        .order_by(VerdictRow.person_id, VerdictRow.given_at)
    )
    found: dict[int, list[datetime]] = {}
    for person_id, given_at in rows:
        found.setdefault(person_id, []).append(given_at)
    return found


def _first_verdicts(db: Session, batch_id: int, numbers: set[int]) -> dict[tuple[int, int], Verdict]:
    found = {}
    for part in _parts(numbers):
        rows = db.execute(
            select(*VerdictRow.__table__.c).where(
                VerdictRow.batch_id == batch_id,
                VerdictRow.question_id.in_(part),
                VerdictRow.revision == 1,
            )
        )
        found.update({(row.question_id, row.person_id): verdict_from_row(row) for row in rows})
    return found


def _facts(db: Session, numbers: set[int]) -> dict[int, tuple[str, int]]:
    found: dict[int, tuple[str, int]] = {}
    for part in _parts(numbers):
        rows = db.execute(
            select(QuestionRow.id, QuestionRow.key, QuestionRow.exam_id).where(QuestionRow.id.in_(part))
        )
        found.update({row.id: (row.key, row.exam_id) for row in rows})
    return found


def _states(db: Session, batch_id: int, numbers: set[int]) -> Iterable[tuple[int, AssignmentState]]:
    for part in _parts(numbers):
        rows = db.execute(
            select(AssignmentRow.question_id, AssignmentRow.state).where(
                AssignmentRow.batch_id == batch_id, AssignmentRow.question_id.in_(part)
            )
        )
        yield from ((number, AssignmentState(state)) for number, state in rows)


def _parts(numbers: set[int]) -> Iterable[list[int]]:
    listed = sorted(numbers)
    for start in range(0, len(listed), _CHUNK):
        yield listed[start : start + _CHUNK]
