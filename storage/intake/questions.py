"""Loading of questions: complete, or blind, without the columns that reveal the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection, bindparam, select
from sqlmodel import Session

from domain.blind_questions import BlindQuestion
from domain.errors import NotFound
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from records.questions import QUESTION_COLUMNS, question_from_columns
from records.values import from_json
from storage.rows.datasets import ExamRow, QuestionRow

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build

# Table columns are selected, because with mapped columns the ORM would process every value again.
_QUESTION_TABLE, _EXAM_TABLE = QuestionRow.__table__, ExamRow.__table__
_QUESTION, _EXAM = _QUESTION_TABLE.c, _EXAM_TABLE.c
_ALL_COLUMNS = (
    _QUESTION.id,
    _QUESTION.exam_id,
    _EXAM.key.label("exam_key"),
    *(_QUESTION[name] for name in QUESTION_COLUMNS),
)

# Built once, because every verdict runs these several times.
_SELECT_QUESTIONS = (
    select(*_ALL_COLUMNS)
    .select_from(_QUESTION_TABLE.join(_EXAM_TABLE, _EXAM.id == _QUESTION.exam_id))
    .where(_QUESTION.id.in_(bindparam("question_ids", expanding=True)))
    .order_by(_QUESTION.id)
)
_SELECT_BLIND = (
    select(
        QuestionRow.key,
        ExamRow.key.label("exam_key"),
        QuestionRow.format,
        QuestionRow.stem,
        QuestionRow.options,
    )
    .join(ExamRow, ExamRow.id == QuestionRow.exam_id)
    .where(QuestionRow.id == bindparam("question_id"))
)


def load_question(db: Session, *, question_id: int) -> Question:
    """Return the question as imported, including its answer key.

    Raises:
        NotFound: no question has that id.
    """
    for _, question in load_questions(db, question_ids=[question_id]):
        return question
    raise NotFound(f"There is no question number {question_id}.")


def load_questions(db: Session, *, question_ids: Iterable[int]) -> Iterator[tuple[int, Question]]:
    """Yield (question id, question) for each id that exists, in ascending order."""
    sorted_ids = sorted(set(question_ids))
    db.flush()  # a select of table columns does not flush the session
    for start in range(0, len(sorted_ids), _CHUNK):
        chunk = load_questions_with_exams(db.connection(), question_ids=sorted_ids[start : start + _CHUNK])
        yield from ((question_id, question) for question_id, _, question in chunk)


def load_questions_with_exams(
    connection: Connection, *, question_ids: Sequence[int]
) -> list[tuple[int, int, Question]]:
    """Return (question id, exam id, question) of at most 500 questions, by ascending id.

    Rows that a session has not yet flushed to its connection are missing.
    """
    rows = connection.execute(_SELECT_QUESTIONS, {"question_ids": question_ids}).all()
    return [(row[0], row[1], question_from_columns(row[2], row[3:])) for row in rows]


def load_blind_question(db: Session, *, question_id: int) -> BlindQuestion:
    """Return the question with stem and options. The answer key is not loaded from the database.

    Raises:
        NotFound: no question has that id.
    """
    row = db.execute(_SELECT_BLIND, {"question_id": question_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no question number {question_id}.")
    return BlindQuestion(
        id=row.key,
        exam_id=row.exam_key,
        format=AnswerFormat(row.format),
        stem=row.stem,
        options=tuple(from_json(row.options)),
    )
