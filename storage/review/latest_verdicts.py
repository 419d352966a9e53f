"""Loading of the latest verdicts of batches as columns, without the ORM."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, String, select, type_coerce
from sqlmodel import Session

from domain.ratings import RATING_IDS
from domain.verdicts import FLAG_IDS, Decision
from records.columns import DECISIONS, TIERS, LatestVerdicts
from records.values import from_json
from records.verdicts import errors_from_json
from storage.rows.datasets import QuestionRow
from storage.rows.verdicts import VerdictRow
from storage.sampling.exclude_copies import exclude_hidden

_BLOCK = 10_000  # rows in memory as Python objects at a time
_NO_CORRECTION = "{}"  # the column's value for an empty correction
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
    # The driver's value is used, because creating datetime objects would take as long as everything else.
    type_coerce(_VERDICT.given_at, String),
    _VERDICT.seconds_looking,
)
_RATINGS = tuple(_VERDICT[name] for name in (*RATING_IDS, *FLAG_IDS))
_T = TypeVar("_T")


def load_latest_verdicts(db: Session, *, batch_ids: Sequence[int], ratings: bool = False) -> LatestVerdicts:
    """Return the latest verdicts of these batches; with ``ratings`` also the ratings and yes/no fields."""
    statement = (
        select(*_COLUMNS, *(_RATINGS if ratings else ()))
        .join_from(VerdictRow, QuestionRow, _QUESTION.id == _VERDICT.question_id)
        .where(_VERDICT.batch_id.in_(batch_ids), exclude_hidden(_VERDICT.question_id))
    )
    question, exam, batch, person, revision, *other_columns = read_columns(db, statement)
    keys = [np.array(values, dtype=np.int64) for values in (question, batch, person)]
    order = np.lexsort((np.array(revision, dtype=np.int64), *reversed(keys)))
    keys = [key[order] for key in keys]
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    first_indices, last_indices = order[is_first], order[np.roll(is_first, -1)]
    decision, errors, tier, correction, given_at, seconds, *rating_columns = other_columns
    error_sets, error_codes = factorize(errors, errors_from_json)
    times = to_utc_times(given_at)
    return LatestVerdicts(
        questions=keys[0][is_first],
        exams=np.array(exam, dtype=np.int64)[last_indices],
        batches=keys[1][is_first],
        people=keys[2][is_first],
        decisions=to_indices(decision, DECISIONS)[last_indices],
        errors=error_codes[last_indices],
        error_sets=error_sets,
        tiers=to_indices(tier, TIERS)[last_indices],
        corrects=_map_distinct(correction, lambda value: value != _NO_CORRECTION, np.bool_)[last_indices],
        changes_key=_map_distinct(correction, changes_key, np.bool_)[last_indices],
        given_at=times[last_indices],
        first_given_at=times[first_indices],
        first_seconds=np.array(seconds, dtype=np.float64)[first_indices],
        ratings=_stack_columns(rating_columns[: len(RATING_IDS)], _encode_rating, rows=len(order))[
            last_indices
        ],
        flags=_stack_columns(rating_columns[len(RATING_IDS) :], _encode_flag, rows=len(order))[last_indices],
    )


def load_questions_with_errors(db: Session, *, batch_id: int) -> set[int]:
    """Return the ids of questions with a latest verdict that reports an error or is not "accept"."""
    verdicts = load_latest_verdicts(db, batch_ids=[batch_id])
    reports_error = np.array([bool(errors) for errors in verdicts.error_sets], dtype=bool)[verdicts.errors]
    is_selected = reports_error | (verdicts.decisions != DECISIONS.index(Decision.ACCEPT))
    return set(verdicts.questions[is_selected].tolist())


def read_columns(db: Session, statement: Select[Any]) -> list[list[Any]]:
    """Return the result by column. The ORM is bypassed, because it would process every value again."""
    db.flush()  # executing on the connection does not flush the session
    result = db.connection().execute(statement, execution_options={"yield_per": _BLOCK})
    columns: list[list[Any]] = [[] for _ in statement.selected_columns]
    for block in result.partitions(_BLOCK):
        for column, values in zip(columns, zip(*block, strict=True), strict=True):
            column.extend(values)
    return columns


def factorize(
    values: Sequence[Hashable], convert: Callable[[Any], _T]
) -> tuple[tuple[_T, ...], NDArray[np.int64]]:
    """Return the distinct values, converted by ``convert``, and the index of each value among them."""
    indices: dict[Hashable, int] = {value: index for index, value in enumerate(dict.fromkeys(values))}
    return tuple(map(convert, indices)), np.array(list(map(indices.__getitem__, values)), dtype=np.int64)


def to_indices(values: Sequence[str | None], categories: Sequence[str]) -> NDArray[np.int8]:
    """Return the index of each value in ``categories``; -1 for None.

    Raises:
        ValueError: a value is not in ``categories``.
    """
    return _map_distinct(values, lambda value: categories.index(value) if value else -1, np.int8)


def changes_key(correction: str) -> bool:
    """Return whether a correction, as stored in its column, changes the answer key."""
    return correction != _NO_CORRECTION and any(name in from_json(correction) for name in _KEY_FIELDS)


def to_utc_times(values: Sequence[Any]) -> NDArray[np.datetime64]:
    """Return times in UTC from the driver's values: text on SQLite, aware datetimes on PostgreSQL."""
    if values and isinstance(values[0], datetime):
        values = [value.astimezone(UTC).replace(tzinfo=None) for value in values]
    return np.array(values, dtype="datetime64[us]")


def _stack_columns(
    columns: Sequence[Sequence[Hashable]], convert: Callable[[Any], int], *, rows: int
) -> NDArray[np.int8]:
    """Return the columns as one array of shape (rows, columns)."""
    mapped = [_map_distinct(column, convert, np.int8) for column in columns]
    return np.array(mapped, dtype=np.int8).reshape(len(columns), rows).T


def _encode_rating(value: int | None) -> int:
    return value or 0


def _encode_flag(value: bool | None) -> int:
    return -1 if value is None else int(value)


def _map_distinct(
    values: Sequence[Hashable], convert: Callable[[Any], Any], dtype: type[np.generic]
) -> NDArray[Any]:
    """Convert the values. There are many rows but few distinct values, so each of these is converted once."""
    converted = {value: convert(value) for value in set(values)}
    return np.array(list(map(converted.__getitem__, values)), dtype=dtype)
