"""Reading questions: whole, or blinded, when the columns that give the answer away are not selected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, select
from sqlmodel import Session

from domain.errors import NotFound
from domain.questions import Answer, Question, Source
from domain.sheets import BlindQuestion
from domain.vocabulary import AnswerFormat, Difficulty, Task
from storage.codec import answer_from_plain, boxes_from_plain, from_json
from storage.rows import ExamRow, QuestionRow

_NONE = "[]"  # an empty list, as most columns have it
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build

# Columns of the table, not of the class: the ORM would look at every value of every row again.
_QUESTION_TABLE, _EXAM_TABLE = QuestionRow.__table__, ExamRow.__table__  # type: ignore[attr-defined]  # SQLModel's
_QUESTION, _EXAM = _QUESTION_TABLE.c, _EXAM_TABLE.c
_WHOLE = (
    _QUESTION.id,
    _QUESTION.exam_id,
    _QUESTION.key,
    _EXAM.key.label("exam_key"),
    _QUESTION.format,
    _QUESTION.stem,
    _QUESTION.options,
    _QUESTION.answer,
    _QUESTION.also_right,
    _QUESTION.explanation,
    _QUESTION.boxes,
    _QUESTION.task,
    _QUESTION.content_type,
    _QUESTION.category,
    _QUESTION.subcategory,
    _QUESTION.difficulty,
    _QUESTION.generator,
    _QUESTION.generator_version,
    _QUESTION.prompt_version,
)
# Few values and many questions: each is made once.
_format, _task, _difficulty = cache(AnswerFormat), cache(Task), cache(Difficulty)

# Built once: every verdict asks these several times.
_QUESTIONS = (
    select(*_WHOLE)
    .select_from(_QUESTION_TABLE.join(_EXAM_TABLE, _EXAM.id == _QUESTION.exam_id))
    .where(_QUESTION.id.in_(bindparam("question_ids", expanding=True)))
    .order_by(_QUESTION.id)
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
    db.flush()  # a select of tables does not see to it
    for start in range(0, len(wanted), _CHUNK):
        chunk = questions_on_exams(db.connection(), question_ids=wanted[start : start + _CHUNK])
        yield from ((number, question) for number, _, question in chunk)


def questions_on_exams(
    connection: Connection, *, question_ids: Sequence[int]
) -> list[tuple[int, int, Question]]:
    """(number, number of the exam, question) of each of these, at most 500, in rising order of the number.

    What a session has not written to its connection yet is not among them.
    """
    rows = connection.execute(_QUESTIONS, {"question_ids": question_ids}).all()
    return [(row[0], row[1], _question(row)) for row in rows]


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


@lru_cache(maxsize=1_000)
def _source(generator: str | None, version: str | None, prompt_version: str | None) -> Source:
    return Source(generator=generator, version=version, prompt_version=prompt_version)


@lru_cache(maxsize=1_000)
def _key(text: str) -> Answer:
    return answer_from_plain(from_json(text))


def _question(row: Sequence[Any]) -> Question:
    # At once, in the order of _WHOLE: asking the row for one name after the other takes thrice as long.
    (
        _, _, key, exam_key, format_, stem, options, answer, also_right, explanation, boxes, task,
        content_type, category, subcategory, difficulty, generator, version, prompt_version,
    ) = row  # fmt: skip
    return Question(
        id=key,
        exam_id=exam_key,
        format=_format(format_),
        stem=stem,
        options=() if options == _NONE else tuple(from_json(options)),
        answer=_key(answer),
        also_right=() if also_right == _NONE else tuple(map(tuple, from_json(also_right))),
        explanation=explanation,
        boxes=() if boxes == _NONE else boxes_from_plain(from_json(boxes)),
        task=_task(task) if task else None,
        content_type=content_type,
        category=category,
        subcategory=subcategory,
        difficulty=_difficulty(difficulty) if difficulty else None,
        source=_source(generator, version, prompt_version),
    )
