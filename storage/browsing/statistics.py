"""Counts over all questions of a dataset, made by the database: no question becomes an object here."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, text
from sqlmodel import Session

#: Columns that questions are counted by.
COLUMNS = ("format", "task", "category", "subcategory", "content_type", "difficulty", "generator",
           "prompt_version")  # fmt: skip
_BLOCK = 20_000  # texts in memory at a time


def count_questions(db: Session, *, dataset_id: int) -> tuple[int, int]:
    """(questions, exams that have any)."""
    row = db.execute(
        text("SELECT count(*), count(DISTINCT exam_id) FROM question WHERE dataset_id = :d"),
        {"d": dataset_id},
    ).one()
    return row[0], row[1]


def count_kinds(db: Session, *, dataset_id: int) -> dict[tuple[str, ...], dict[int, int]]:
    """How many questions of each kind have how many boxes: {values of :data:`COLUMNS`: {boxes: questions}}.

    "" where a question has no value. One reading of the dataset, from which every count by a column comes:
    there are few kinds, and each reading of a hundred thousand questions takes its time.
    """
    named = ", ".join(f"coalesce({column}, '')" for column in COLUMNS)
    length = "json_array_length(boxes)" if _is_sqlite(db) else "json_array_length(CAST(boxes AS json))"
    boxes = f"CASE WHEN boxes = '[]' THEN 0 ELSE {length} END"
    rows = db.execute(
        text(
            f"SELECT {named}, {boxes}, count(*) FROM question WHERE dataset_id = :d "  # noqa: S608 - our own names
            f"GROUP BY {named}, {boxes}"
        ),
        {"d": dataset_id},
    )
    found: dict[tuple[str, ...], dict[int, int]] = {}
    for *kind, many, questions in rows:
        found.setdefault(tuple(kind), {})[many] = questions
    return found


def observations(db: Session, *, dataset_id: int, most: int) -> list[tuple[str, int, int]]:
    """(what boxes show, questions with such a box, boxes), those of the most questions first."""
    if _is_sqlite(db):
        label, each = "json_extract(b.value, '$.label')", "json_each(q.boxes) AS b"
    else:
        label, each = "b.value ->> 'label'", "json_array_elements(CAST(q.boxes AS json)) AS b(value)"
    rows = db.execute(
        text(
            f"SELECT {label}, count(DISTINCT q.id), count(*) FROM question q, {each} "  # noqa: S608 - our own text
            "WHERE q.dataset_id = :d AND q.boxes <> '[]' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :most"
        ),
        {"d": dataset_id, "most": most},
    )
    return [(row[0], row[1], row[2]) for row in rows]


def by_split(db: Session, *, dataset_id: int, column: str) -> dict[tuple[str, str], int]:
    """Questions of the newest release by its side and a column's value; empty where none was made."""
    if column not in COLUMNS:
        raise ValueError(f"no such column: {column}")
    rows = db.execute(
        text(
            f"SELECT i.side, coalesce(q.{column}, ''), count(*) FROM release_item i "  # noqa: S608 - our own name
            "JOIN question q ON q.id = i.question_id WHERE i.release_id = "
            "(SELECT max(id) FROM release WHERE dataset_id = :d) GROUP BY 1, 2"
        ),
        {"d": dataset_id},
    )
    return {(row[0], row[1]): row[2] for row in rows}


def texts_of(db: Session, *, dataset_id: int) -> Iterator[list[tuple[str, str]]]:
    """(question, explanation) of every question, in blocks, in the order in which they came in."""
    # By the connection: at this many rows the session's own bookkeeping takes longer than the database.
    connection: Connection = db.connection()
    result = connection.execute(
        text("SELECT stem, explanation FROM question WHERE dataset_id = :d ORDER BY id"),
        {"d": dataset_id},
        execution_options={"yield_per": _BLOCK},
    )
    for block in result.partitions(_BLOCK):
        yield [(row[0], row[1]) for row in block]


def newest_release(db: Session, *, dataset_id: int) -> int:
    """The highest number of a release of the dataset; 0 where none was made."""
    found = db.execute(text("SELECT max(id) FROM release WHERE dataset_id = :d"), {"d": dataset_id})
    return found.scalar_one() or 0


def newest_question(db: Session, *, dataset_id: int) -> int:
    """The highest number of a question of the dataset, by which what is counted may be remembered."""
    found = db.execute(text("SELECT max(id) FROM question WHERE dataset_id = :d"), {"d": dataset_id})
    return found.scalar_one() or 0


def _is_sqlite(db: Session) -> bool:
    return db.get_bind().dialect.name == "sqlite"
