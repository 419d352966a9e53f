"""Counts over all questions of a dataset, computed by the database without loading the questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, text
from sqlmodel import Session

#: The columns by which questions are counted.
COLUMNS = ("format", "task", "category", "subcategory", "content_type", "difficulty", "generator",
           "prompt_version")  # fmt: skip
_BLOCK = 20_000  # texts in memory at a time


def count_questions(db: Session, *, dataset_id: int) -> tuple[int, int, int]:
    """Return the numbers of questions, of exams with at least one question, and of their radiographs."""
    row = db.execute(
        text("SELECT count(*), count(DISTINCT exam_id) FROM question WHERE dataset_id = :d"),
        {"d": dataset_id},
    ).one()
    images = db.execute(
        text(
            "SELECT count(*) FROM radiograph WHERE exam_id IN "
            "(SELECT exam_id FROM question WHERE dataset_id = :d)"
        ),
        {"d": dataset_id},
    ).scalar_one()
    return row[0], row[1], images


def count_kinds(db: Session, *, dataset_id: int) -> dict[tuple[str, ...], dict[int, int]]:
    """Count questions by kind and number of boxes: {kind: {boxes: questions}}.

    A kind is a tuple of the values of :data:`COLUMNS`; a missing value is "". The counts of each column are
    derived from this single scan of the dataset, because a scan of a hundred thousand questions is slow and
    there are few kinds.
    """
    columns = ", ".join(f"coalesce({column}, '')" for column in COLUMNS)
    length = "json_array_length(boxes)" if _is_sqlite(db) else "json_array_length(CAST(boxes AS json))"
    boxes = f"CASE WHEN boxes = '[]' THEN 0 ELSE {length} END"
    rows = db.execute(
        text(
            f"SELECT {columns}, {boxes}, count(*) FROM question WHERE dataset_id = :d "  # noqa: S608 - our own names
            f"GROUP BY {columns}, {boxes}"
        ),
        {"d": dataset_id},
    )
    counts: dict[tuple[str, ...], dict[int, int]] = {}
    for *kind, box_count, question_count in rows:
        counts.setdefault(tuple(kind), {})[box_count] = question_count
    return counts


def count_observations(
    db: Session, *, dataset_id: int, limit: int, names: Mapping[str, str] | None = None
) -> list[tuple[str, int, int]]:
    """Return (label, questions with such a box, boxes) for the most frequent box labels.

    ``names`` replaces labels before they are counted.
    """
    label, boxes = get_label_sql(db)
    parameters: dict[str, object] = {"d": dataset_id, "most": limit}
    if names:
        cases = " ".join(f"WHEN :raw{index} THEN :name{index}" for index in range(len(names)))
        for index, (raw, name) in enumerate(names.items()):
            parameters |= {f"raw{index}": raw, f"name{index}": name}
        label = f"CASE {label} {cases} ELSE {label} END"
    rows = db.execute(
        text(
            f"SELECT {label}, count(DISTINCT q.id), count(*) FROM question q, {boxes} "  # noqa: S608 - our own text
            "WHERE q.dataset_id = :d AND q.boxes <> '[]' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT :most"
        ),
        parameters,
    )
    return [(row[0], row[1], row[2]) for row in rows]


def count_observations_by_split(db: Session, *, dataset_id: int) -> dict[tuple[str, str], int]:
    """Count the newest release's questions by split and label of a box."""
    label, boxes = get_label_sql(db)
    rows = db.execute(
        text(
            f"SELECT i.side, {label}, count(DISTINCT q.id) FROM release_item i "  # noqa: S608 - our own text
            f"JOIN question q ON q.id = i.question_id, {boxes} WHERE q.boxes <> '[]' AND i.release_id = "
            "(SELECT max(id) FROM release WHERE dataset_id = :d) GROUP BY 1, 2"
        ),
        {"d": dataset_id},
    )
    return {(row[0], row[1]): row[2] for row in rows}


def get_label_sql(db: Session) -> tuple[str, str]:
    """Return the SQL of a box's label, and of the join with the boxes of a question q."""
    if _is_sqlite(db):
        return "json_extract(b.value, '$.label')", "json_each(q.boxes) AS b"
    return "b.value ->> 'label'", "json_array_elements(CAST(q.boxes AS json)) AS b(value)"


def count_by_split(db: Session, *, dataset_id: int, column: str) -> dict[tuple[str, str], int]:
    """Count questions of the newest release by split and by a column's value.

    The result is empty if there is no release.
    """
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


def iterate_texts(db: Session, *, dataset_id: int) -> Iterator[list[tuple[str, str]]]:
    """Yield (stem, explanation) of every question, in blocks, in the order of import."""
    # Executed on the connection: with this many rows the session's bookkeeping takes longer than the query.
    connection: Connection = db.connection()
    result = connection.execute(
        text("SELECT stem, explanation FROM question WHERE dataset_id = :d ORDER BY id"),
        {"d": dataset_id},
        execution_options={"yield_per": _BLOCK},
    )
    for block in result.partitions(_BLOCK):
        yield [(row[0], row[1]) for row in block]


def load_newest_release(db: Session, *, dataset_id: int) -> int:
    """Return the id of the newest release of the dataset; 0 if there is none."""
    result = db.execute(text("SELECT max(id) FROM release WHERE dataset_id = :d"), {"d": dataset_id})
    return result.scalar_one() or 0


def load_newest_question(db: Session, *, dataset_id: int) -> int:
    """Return the id of the newest question of the dataset, which can be part of a cache key of the counts."""
    result = db.execute(text("SELECT max(id) FROM question WHERE dataset_id = :d"), {"d": dataset_id})
    return result.scalar_one() or 0


def _is_sqlite(db: Session) -> bool:
    return db.get_bind().dialect.name == "sqlite"
