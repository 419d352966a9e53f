"""Loading of the latest verdicts of batches, as columns and without the ORM."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, String, select, type_coerce
from sqlmodel import Session

from domain.ratings import RATING_NAMES
from domain.verdicts import FLAG_NAMES, Decision
from records.columns import DECISIONS, TIERS, LatestVerdicts
from records.values import from_json
from records.verdicts import errors_from_text
from storage.rows import QuestionRow, VerdictRow
from storage.sampling.ordinary import ordinary_question

_BLOCK = 10_000  # rows in memory as Python objects at a time
_NOTHING = "{}"  # the column's value for an empty correction
_KEY_FIELDS = ("answer", "also_right")
_VERDICT = VerdictRow.__table__.c
_QUESTION = QuestionRow.__table__.c
_COLUMNS = (
    _VERDICT.question_id,
    _QUESTION.exam_id,
    _VERDICT.batch_id,
    _VERDICT.person_id,
    _VERDICT.revision,
    _VERDICT.decision,
    _VERDICT.errors,
    _VERDICT.difficulty,
    _VERDICT.correction,
    # The driver's value: creating datetime objects would take as long as everything else.
    type_coerce(_VERDICT.given_at, String),
    _VERDICT.seconds_looking,
)
_RATINGS = tuple(_VERDICT[name] for name in (*RATING_NAMES, *FLAG_NAMES))
_T = TypeVar("_T")


def standing_verdicts(db: Session, *, batch_ids: Sequence[int], ratings: bool = False) -> LatestVerdicts:
    """Return the latest verdicts of these batches; with ``ratings`` also the ratings and yes/no fields."""
    statement = (
        select(*_COLUMNS, *(_RATINGS if ratings else ()))
        .join_from(VerdictRow, QuestionRow, _QUESTION.id == _VERDICT.question_id)
        .where(_VERDICT.batch_id.in_(batch_ids), ordinary_question(_VERDICT.question_id))
    )
    question, exam, batch, person, revision, *said = read_columns(db, statement)
    keys = [np.array(each, dtype=np.int64) for each in (question, batch, person)]
    order = np.lexsort((np.array(revision, dtype=np.int64), *reversed(keys)))
    keys = [each[order] for each in keys]
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in keys])
    first, last = order[begins], order[np.roll(begins, -1)]
    decision, errors, tier, correction, given_at, seconds, *rated = said
    error_sets, error_codes = coded(errors, errors_from_text)
    moments = as_moments(given_at)
    return LatestVerdicts(
        questions=keys[0][begins],
        exams=np.array(exam, dtype=np.int64)[last],
        batches=keys[1][begins],
        people=keys[2][begins],
        decisions=places_of(decision, DECISIONS)[last],
        errors=error_codes[last],
        error_sets=error_sets,
        tiers=places_of(tier, TIERS)[last],
        corrects=_mapped(correction, lambda each: each != _NOTHING, np.bool_)[last],
        changes_key=_mapped(correction, changes_key, np.bool_)[last],
        given_at=moments[last],
        first_given_at=moments[first],
        first_seconds=np.array(seconds, dtype=np.float64)[first],
        ratings=_side_by_side(rated[: len(RATING_NAMES)], _rating, rows=len(order))[last],
        flags=_side_by_side(rated[len(RATING_NAMES) :], _flag, rows=len(order))[last],
    )


def questions_with_a_find(db: Session, *, batch_id: int) -> set[int]:
    """Return the questions of the batch with a latest verdict that reports an error or does not accept."""
    standing = standing_verdicts(db, batch_ids=[batch_id])
    named = np.array([bool(each) for each in standing.error_sets], dtype=bool)[standing.errors]
    found = named | (standing.decisions != DECISIONS.index(Decision.ACCEPT))
    return set(standing.questions[found].tolist())


def read_columns(db: Session, statement: Select[Any]) -> list[list[Any]]:
    """Return the result by column, without the ORM, which would process every value of every row again."""
    db.flush()  # a connection does not flush by itself
    result = db.connection().execute(statement, execution_options={"yield_per": _BLOCK})
    columns: list[list[Any]] = [[] for _ in statement.selected_columns]
    for block in result.partitions(_BLOCK):
        for column, values in zip(columns, zip(*block, strict=True), strict=True):
            column.extend(values)
    return columns


def coded(values: Sequence[Hashable], read: Callable[[Any], _T]) -> tuple[tuple[_T, ...], NDArray[np.int64]]:
    """Return the distinct values, converted by ``read``, and the index of each value among them."""
    places: dict[Hashable, int] = {each: place for place, each in enumerate(dict.fromkeys(values))}
    return tuple(map(read, places)), np.array(list(map(places.__getitem__, values)), dtype=np.int64)


def places_of(values: Sequence[str | None], among: Sequence[str]) -> NDArray[np.int8]:
    """Return the index of each value in ``among``; -1 for None.

    Raises:
        ValueError: a value is not in ``among``.
    """
    return _mapped(values, lambda each: among.index(each) if each else -1, np.int8)


def changes_key(correction: str) -> bool:
    """Return whether a correction, as stored in its column, changes the answer key."""
    return correction != _NOTHING and any(name in from_json(correction) for name in _KEY_FIELDS)


def as_moments(values: Sequence[Any]) -> NDArray[np.datetime64]:
    """Return times in UTC from the driver's values: text on SQLite, aware datetimes on PostgreSQL."""
    if values and isinstance(values[0], datetime):
        values = [each.astimezone(UTC).replace(tzinfo=None) for each in values]
    return np.array(values, dtype="datetime64[us]")


def _side_by_side(
    columns: Sequence[Sequence[Hashable]], read: Callable[[Any], int], *, rows: int
) -> NDArray[np.int8]:
    """Return the columns as one array of shape (rows, columns)."""
    mapped = [_mapped(column, read, np.int8) for column in columns]
    return np.array(mapped, dtype=np.int8).reshape(len(columns), rows).T


def _rating(value: int | None) -> int:
    return value or 0


def _flag(value: bool | None) -> int:
    return -1 if value is None else int(value)


def _mapped(values: Sequence[Hashable], read: Callable[[Any], Any], kind: type[np.generic]) -> NDArray[Any]:
    """Convert the values. There are few values and many rows, so each distinct value is converted once."""
    known = {each: read(each) for each in set(values)}
    return np.array(list(map(known.__getitem__, values)), dtype=kind)
