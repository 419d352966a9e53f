"""The rows of a list of search results, and the values that a search can filter by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlmodel import Session

from domain.verdicts import Decision
from domain.vocabulary import AnswerFormat, Difficulty, Task, View
from storage.rows import ExamRow, QuestionRow, RadiographRow, VerdictRow


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundQuestion:
    """One row of the list. ``decisions`` are those of each person's latest verdict, unordered."""

    number: int
    id: str
    stem: str
    format: AnswerFormat
    task: Task | None
    difficulty: Difficulty | None
    category: str | None
    exam_number: int
    exam_id: str
    radiograph: str | None
    decisions: tuple[Decision, ...]


def found_questions(db: Session, *, numbers: Sequence[int]) -> list[FoundQuestion]:
    """Return these questions by ascending number; ``radiograph`` is the frontal one with an image."""
    columns = select(
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
        columns.join(ExamRow, ExamRow.id == QuestionRow.exam_id)
        .where(QuestionRow.id.in_(numbers))
        .order_by(QuestionRow.id)
    ).all()
    shown = _radiographs(db, {row.exam_id for row in rows})
    decisions = _decisions(db, numbers)
    return [
        FoundQuestion(
            number=row.id,
            id=row.key,
            stem=row.stem,
            format=AnswerFormat(row.format),
            task=Task(row.task) if row.task else None,
            difficulty=Difficulty(row.difficulty) if row.difficulty else None,
            category=row.category,
            exam_number=row.exam_id,
            exam_id=row.exam_key,
            radiograph=shown.get(row.exam_id),
            decisions=tuple(decisions.get(row.id, ())),
        )
        for row in rows
    ]


def values_of(db: Session, *, dataset_id: int, column: str) -> list[tuple[str, int]]:
    """Return the values of a column of the dataset's questions with their counts, the most frequent first.

    This reads every question of the dataset, so cache the result.
    """
    chosen = getattr(QuestionRow, column)
    statement = (
        select(chosen, func.count().label("questions"))
        .where(QuestionRow.dataset_id == dataset_id, chosen.is_not(None))
        .group_by(chosen)
        .order_by(func.count().desc(), chosen)
    )
    return [(row[0], row[1]) for row in db.execute(statement)]


def number_of(db: Session, *, dataset_id: int, key: str) -> int | None:
    """Return the number of the question with that id; None if there is none."""
    statement = select(QuestionRow.id).where(QuestionRow.dataset_id == dataset_id, QuestionRow.key == key)
    return db.execute(statement).scalars().first()


def _radiographs(db: Session, exam_ids: set[int]) -> dict[int, str]:
    rows = db.execute(
        select(RadiographRow.exam_id, RadiographRow.key, RadiographRow.view)
        .where(RadiographRow.exam_id.in_(exam_ids), RadiographRow.image_sha256.is_not(None))
        .order_by(RadiographRow.exam_id, RadiographRow.position)
    ).all()
    frontal = {View.PA.value, View.AP.value}
    found: dict[int, tuple[bool, str]] = {}
    for exam, key, view in rows:
        before = found.get(exam)
        if before is None or (not before[0] and view in frontal):
            found[exam] = (view in frontal, key)
    return {exam: key for exam, (_, key) in found.items()}


def _decisions(db: Session, numbers: Sequence[int]) -> dict[int, list[Decision]]:
    rows = db.execute(
        select(VerdictRow.question_id, VerdictRow.batch_id, VerdictRow.person_id, VerdictRow.decision)
        .where(VerdictRow.question_id.in_(numbers))
        .order_by(VerdictRow.question_id, VerdictRow.batch_id, VerdictRow.person_id, VerdictRow.revision)
    )
    last: dict[tuple[int, int, int], Decision] = {}
    for question, batch, person, decision in rows:
        last[question, batch, person] = Decision(decision)
    found: dict[int, list[Decision]] = {}
    for (question, _, _), decision in last.items():
        found.setdefault(question, []).append(decision)
    return found
