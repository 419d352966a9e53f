"""The rows of a list of search results, and the values that a search can filter by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlmodel import Session

from domain.verdicts import Decision
from domain.vocabulary import AnswerFormat, Difficulty, Task, View
from storage.rows.datasets import ExamRow, QuestionRow, RadiographRow
from storage.rows.verdicts import VerdictRow


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """One row of the list. ``decisions`` has the decision of each person's latest verdict, unordered.

    ``number`` and ``exam_row_id`` are database ids; ``id`` and ``exam_id`` come from the imported file.
    """

    number: int
    id: str
    stem: str
    format: AnswerFormat
    task: Task | None
    difficulty: Difficulty | None
    category: str | None
    exam_row_id: int
    exam_id: str
    radiograph: str | None
    decisions: tuple[Decision, ...]


def load_search_results(db: Session, *, numbers: Sequence[int]) -> list[SearchResult]:
    """Return these questions by ascending number. ``radiograph`` has an image and is frontal if possible."""
    statement = select(
        QuestionRow.id,
        QuestionRow.key,
        QuestionRow.stem,
        QuestionRow.format,
        QuestionRow.task,
        QuestionRow.difficulty,
        QuestionRow.category,
        QuestionRow.exam_id,
        ExamRow.key.label("exam_key"),
    )
    rows = db.execute(
        statement.join(ExamRow, ExamRow.id == QuestionRow.exam_id)
        .where(QuestionRow.id.in_(numbers))
        .order_by(QuestionRow.id)
    ).all()
    radiographs = _load_radiographs(db, {row.exam_id for row in rows})
    decisions = _load_decisions(db, numbers)
    return [
        SearchResult(
            number=row.id,
            id=row.key,
            stem=row.stem,
            format=AnswerFormat(row.format),
            task=Task(row.task) if row.task else None,
            difficulty=Difficulty(row.difficulty) if row.difficulty else None,
            category=row.category,
            exam_row_id=row.exam_id,
            exam_id=row.exam_key,
            radiograph=radiographs.get(row.exam_id),
            decisions=tuple(decisions.get(row.id, ())),
        )
        for row in rows
    ]


def count_values(db: Session, *, dataset_id: int, column: str) -> list[tuple[str, int]]:
    """Return the values of a column of the dataset's questions with their counts, the most frequent first.

    This reads every question of the dataset, so cache the result.
    """
    attribute = getattr(QuestionRow, column)
    statement = (
        select(attribute, func.count().label("questions"))
        .where(QuestionRow.dataset_id == dataset_id, attribute.is_not(None))
        .group_by(attribute)
        .order_by(func.count().desc(), attribute)
    )
    return [(row[0], row[1]) for row in db.execute(statement)]


def find_question_row_id(db: Session, *, dataset_id: int, key: str) -> int | None:
    """Return the database id of the question with the file's id ``key``; None if there is none."""
    statement = select(QuestionRow.id).where(QuestionRow.dataset_id == dataset_id, QuestionRow.key == key)
    return db.execute(statement).scalars().first()


def _load_radiographs(db: Session, exam_ids: set[int]) -> dict[int, str]:
    rows = db.execute(
        select(RadiographRow.exam_id, RadiographRow.key, RadiographRow.view)
        .where(RadiographRow.exam_id.in_(exam_ids), RadiographRow.image_sha256.is_not(None))
        .order_by(RadiographRow.exam_id, RadiographRow.position)
    ).all()
    frontal_views = {View.PA.value, View.AP.value}
    chosen: dict[int, tuple[bool, str]] = {}
    for exam, key, view in rows:
        previous = chosen.get(exam)
        if previous is None or (not previous[0] and view in frontal_views):
            chosen[exam] = (view in frontal_views, key)
    return {exam: key for exam, (_, key) in chosen.items()}


def _load_decisions(db: Session, numbers: Sequence[int]) -> dict[int, list[Decision]]:
    rows = db.execute(
        select(VerdictRow.question_id, VerdictRow.batch_id, VerdictRow.person_id, VerdictRow.decision)
        .where(VerdictRow.question_id.in_(numbers))
        .order_by(VerdictRow.question_id, VerdictRow.batch_id, VerdictRow.person_id, VerdictRow.revision)
    )
    latest: dict[tuple[int, int, int], Decision] = {}
    for question, batch, person, decision in rows:
        latest[question, batch, person] = Decision(decision)
    by_question: dict[int, list[Decision]] = {}
    for (question, _, _), decision in latest.items():
        by_question.setdefault(question, []).append(decision)
    return by_question
