"""Reads questions in blocks for the checks, as plain rows that can be sent to another process."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlmodel import Session

from records.questions import QUESTION_COLUMNS
from storage.rows.datasets import ExamRow, ImageRow, QuestionRow, RadiographRow

_QUESTION, _EXAM = QuestionRow.__table__.c, ExamRow.__table__.c
#: (question id, import id, exam key, report, the values of QUESTION_COLUMNS in order)
BlockRow = tuple[Any, ...]
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


_SELECT_ROWS = select(
    _QUESTION.id,
    _QUESTION.import_id,
    _EXAM.key,
    _EXAM.report,
    *(_QUESTION[name] for name in QUESTION_COLUMNS),
).select_from(QuestionRow.__table__.join(ExamRow.__table__, _EXAM.id == _QUESTION.exam_id))


def _belongs_to(dataset_id: int) -> ColumnElement[bool]:
    """Return the condition that a question is in the dataset, for queries with a range of question ids.

    The sum keeps the database from choosing the index of the dataset, by which it would walk through all
    questions of the dataset for each block.
    """
    return _QUESTION.dataset_id + 0 == dataset_id


def load_block(db: Session, *, dataset_id: int, after: int, count: int) -> list[BlockRow]:
    """Return the next ``count`` questions of the dataset with ids above ``after``, by ascending id."""
    statement = (
        _SELECT_ROWS.where(_QUESTION.id > after, _belongs_to(dataset_id)).order_by(_QUESTION.id).limit(count)
    )
    # Fetched from the driver: with this many rows the bookkeeping of SQLAlchemy takes longer than the query,
    # and the columns have plain values.
    result = db.connection().execute(statement)
    try:
        return list(map(tuple, result.cursor.fetchall()))
    finally:
        result.close()


def load_rows(db: Session, *, question_ids: Collection[int]) -> Iterator[BlockRow]:
    """Yield the rows of these questions, by ascending id."""
    numbers = sorted(question_ids)
    for start in range(0, len(numbers), _CHUNK):
        statement = _SELECT_ROWS.where(_QUESTION.id.in_(numbers[start : start + _CHUNK])).order_by(
            _QUESTION.id
        )
        yield from (tuple(row) for row in db.connection().execute(statement))


def load_image_widths(
    db: Session, *, dataset_id: int, after: int, through: int
) -> dict[str, list[tuple[str, str, int | None]]]:
    """Return (radiograph key, view, columns) by exam key, for exams whose questions in that range have boxes.

    The range contains the question ids above ``after``, up to ``through``.
    """
    with_boxes = select(_QUESTION.exam_id).where(
        _QUESTION.id > after,
        _QUESTION.id <= through,
        _belongs_to(dataset_id),
        _QUESTION.boxes != "[]",
    )
    statement = (
        select(ExamRow.key, RadiographRow.key, RadiographRow.view, ImageRow.columns)
        .join(RadiographRow, RadiographRow.exam_id == ExamRow.id)
        .outerjoin(ImageRow, ImageRow.sha256 == RadiographRow.image_sha256)
        .where(ExamRow.id.in_(with_boxes))
    )
    widths: dict[str, list[tuple[str, str, int | None]]] = {}
    for exam, radiograph, view, columns in db.connection().execute(statement):
        widths.setdefault(exam, []).append((radiograph, view, columns))
    return widths


def load_question_row(db: Session, *, question_id: int) -> tuple[int, BlockRow]:
    """Return the dataset's id and the row of one question, which must exist."""
    statement = select(_QUESTION.dataset_id).where(_QUESTION.id == question_id)
    dataset_id = int(db.execute(statement).scalar_one())
    return dataset_id, load_block(db, dataset_id=dataset_id, after=question_id - 1, count=1)[0]


def count_questions(db: Session, *, dataset_id: int, after: int) -> int:
    """Return how many questions of the dataset have ids above ``after``."""
    statement = select(func.count()).where(_QUESTION.dataset_id == dataset_id, _QUESTION.id > after)
    return int(db.execute(statement).scalar_one())
