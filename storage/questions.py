"""Reading questions: whole, or blinded, when the columns that give the answer away are not selected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import Row, bindparam, select
from sqlmodel import Session

from domain.errors import NotFound
from domain.questions import Question, Source
from domain.sheets import BlindQuestion
from domain.vocabulary import AnswerFormat, Difficulty, Task
from storage.codec import answer_from_plain, boxes_from_plain, from_json
from storage.rows import ExamRow, QuestionRow

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build

_WHOLE = (
    QuestionRow.id,
    QuestionRow.key,
    ExamRow.key.label("exam_key"),  # type: ignore[attr-defined]  # a column on the class, a str to mypy
    QuestionRow.format,
    QuestionRow.stem,
    QuestionRow.options,
    QuestionRow.answer,
    QuestionRow.also_right,
    QuestionRow.explanation,
    QuestionRow.boxes,
    QuestionRow.task,
    QuestionRow.content_type,
    QuestionRow.category,
    QuestionRow.subcategory,
    QuestionRow.difficulty,
    QuestionRow.generator,
    QuestionRow.generator_version,
    QuestionRow.prompt_version,
)

# Built once: every verdict asks these several times.
_QUESTIONS = (
    select(*_WHOLE)
    .join(ExamRow, ExamRow.id == QuestionRow.exam_id)
    .where(QuestionRow.id.in_(bindparam("question_ids", expanding=True)))  # type: ignore[attr-defined]  # a column
    .order_by(QuestionRow.id)
)
_BLIND = (
    select(
        QuestionRow.key,
        ExamRow.key.label("exam_key"),  # type: ignore[attr-defined]  # a column
        QuestionRow.format,
        QuestionRow.stem,
        QuestionRow.options,
    )
    .join(ExamRow, ExamRow.id == QuestionRow.exam_id)
    .where(QuestionRow.id == bindparam("question_id"))
)


def load_question(db: Session, *, question_id: int) -> Question:
    """The question as it came in, key and all.

    Raises:
        NotFound: no question has that number.
    """
    for _, question in load_questions(db, question_ids=[question_id]):
        return question
    raise NotFound(f"There is no question number {question_id}.")


def load_questions(db: Session, *, question_ids: Iterable[int]) -> Iterator[tuple[int, Question]]:
    """(number, question) for each of the numbers that exist, in rising order of the number."""
    wanted = sorted(set(question_ids))
    for start in range(0, len(wanted), _CHUNK):
        for row in db.execute(_QUESTIONS, {"question_ids": wanted[start : start + _CHUNK]}):
            yield row.id, _question(row)


def load_blind_question(db: Session, *, question_id: int) -> BlindQuestion:
    """Stem and options only; the key never leaves the database.

    Raises:
        NotFound: no question has that number.
    """
    row = db.execute(_BLIND, {"question_id": question_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no question number {question_id}.")
    return BlindQuestion(
        id=row.key,
        exam_id=row.exam_key,
        format=AnswerFormat(row.format),
        stem=row.stem,
        options=tuple(from_json(row.options)),
    )


def _question(row: Row) -> Question:
    return Question(
        id=row.key,
        exam_id=row.exam_key,
        format=AnswerFormat(row.format),
        stem=row.stem,
        options=tuple(from_json(row.options)),
        answer=answer_from_plain(from_json(row.answer)),
        also_right=tuple(tuple(each) for each in from_json(row.also_right)),
        explanation=row.explanation,
        boxes=boxes_from_plain(from_json(row.boxes)),
        task=Task(row.task) if row.task else None,
        content_type=row.content_type,
        category=row.category,
        subcategory=row.subcategory,
        difficulty=Difficulty(row.difficulty) if row.difficulty else None,
        source=Source(
            generator=row.generator, version=row.generator_version, prompt_version=row.prompt_version
        ),
    )
