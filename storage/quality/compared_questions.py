"""What the search for near-duplicates reads: the questions of a dataset, by exam."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session

from domain.duplicates import ComparedQuestion
from domain.vocabulary import AnswerFormat
from records.values import answer_from_json, answers_from_json, from_json
from storage.rows.datasets import ExamRow, QuestionRow

_IDS_AT_ONCE = 400
_COLUMNS = (
    QuestionRow.id,
    QuestionRow.exam_id,
    QuestionRow.format,
    QuestionRow.stem,
    QuestionRow.options,
    QuestionRow.answer,
    QuestionRow.also_right,
    func.length(QuestionRow.explanation).label("explanation_length"),
    QuestionRow.task,
    QuestionRow.category,
)


def iterate_compared_questions(db: Session, *, dataset_id: int) -> Iterator[ComparedQuestion]:
    """Yield all questions of a dataset, grouped by exam.

    Hidden questions are on the same exams, but belong to a dataset of their own.
    """
    last_exam_id = -1
    while True:
        exam_ids = _list_exam_ids(db, dataset_id=dataset_id, after=last_exam_id)
        if not exam_ids:
            return
        last_exam_id = exam_ids[-1]
        statement = (
            select(*_COLUMNS)
            # The sum keeps the database from choosing the dataset's index instead of the exam's index.
            .where(QuestionRow.exam_id.in_(exam_ids), QuestionRow.dataset_id + 0 == dataset_id)
            .order_by(QuestionRow.exam_id, QuestionRow.id)
        )
        for row in db.connection().execute(statement):
            yield _compared_from_columns(row)


def load_compared_questions(db: Session, *, numbers: Sequence[int]) -> dict[int, ComparedQuestion]:
    """Return some questions by id, at most a few hundred."""
    rows = db.connection().execute(select(*_COLUMNS).where(QuestionRow.id.in_(sorted(set(numbers)))))
    return {row.id: _compared_from_columns(row) for row in rows}


def load_question_keys(db: Session, *, numbers: Sequence[int]) -> dict[int, str]:
    """Return the ids in the imported file by database id."""
    keys: dict[int, str] = {}
    sorted_ids = sorted(set(numbers))
    for start in range(0, len(sorted_ids), _IDS_AT_ONCE):
        block = sorted_ids[start : start + _IDS_AT_ONCE]
        rows = db.execute(select(QuestionRow.id, QuestionRow.key).where(QuestionRow.id.in_(block)))
        keys |= {row.id: row.key for row in rows}
    return keys


def count_groups(db: Session, *, dataset_id: int) -> dict[tuple[str, str], int]:
    """Return the number of questions by (task, category), "" where there is none."""
    task, category = func.coalesce(QuestionRow.task, ""), func.coalesce(QuestionRow.category, "")
    rows = db.execute(
        select(task, category, func.count())
        .where(QuestionRow.dataset_id == dataset_id)
        .group_by(task, category)
    )
    return {(row[0], row[1]): row[2] for row in rows}


def _list_exam_ids(db: Session, *, dataset_id: int, after: int) -> list[int]:
    statement = (
        select(ExamRow.id)
        .where(ExamRow.dataset_id == dataset_id, ExamRow.id > after)
        .order_by(ExamRow.id)
        .limit(_IDS_AT_ONCE)
    )
    return list(db.execute(statement).scalars())


def _compared_from_columns(row: Any) -> ComparedQuestion:  # noqa: ANN401 - a row of _COLUMNS
    return ComparedQuestion(
        number=row.id,
        exam=row.exam_id,
        format=AnswerFormat(row.format),
        stem=row.stem,
        options=tuple(from_json(row.options)),
        answer=answer_from_json(row.answer),
        also_right=answers_from_json(row.also_right),
        explanation_length=row.explanation_length,
        group=(row.task or "", row.category or ""),
    )
