"""Bulk writing of millions of rows through the driver, in the session's transaction.

The importer assigns the ids of exams and questions in blocks, while it holds the import lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import bindparam, func, select, text, update
from sqlmodel import Session

from storage.rows.datasets import ExamRow, ImageRow, QuestionRow, RadiographRow

_CHUNK = 500
#: If the table has fewer questions, rebuilding the indexes is faster than updating them in a large import.
REBUILD_INDEXES_BELOW = 50_000
_CACHE_KIB = 32 * 1024

_INDEXES = {
    "question_dataset_key": "CREATE UNIQUE INDEX question_dataset_key ON question (dataset_id, key)",
    "question_exam": "CREATE INDEX question_exam ON question (exam_id)",
}


def lock_for_import(db: Session) -> None:
    """Allow one import at a time. PostgreSQL takes a lock; SQLite has a single writer anyway."""
    if not _is_sqlite(db):
        db.execute(text("LOCK TABLE exam, question IN SHARE ROW EXCLUSIVE MODE"))
    else:
        db.connection()


def load_next_row_ids(db: Session) -> tuple[int, int]:
    """Return the next free ids of exams and of questions."""
    last_exam_id = db.execute(select(func.max(ExamRow.id))).scalar_one()
    last_question_id = db.execute(select(func.max(QuestionRow.id))).scalar_one()
    return (last_exam_id or 0) + 1, (last_question_id or 0) + 1


def insert_rows(db: Session, *, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows through the driver: executemany on SQLite, COPY on PostgreSQL.

    Args:
        db: the session; the rows become part of its transaction.
        table: the table's name, which must not be user input.
        columns: the column names, in the order of each row's values.
        rows: values in the driver's types (JSON as text, hashes as bytes).
    """
    names = ", ".join(f'"{column}"' for column in columns)
    cursor = db.connection().connection.cursor()
    try:
        if _is_sqlite(db):
            placeholders = ", ".join("?" * len(columns))
            cursor.executemany(
                f'INSERT INTO "{table}" ({names}) VALUES ({placeholders})',  # noqa: S608 - our own names
                rows,  # type: ignore[arg-type]  # sqlite3 takes any iterable
            )
        else:
            with cursor.copy(f'COPY "{table}" ({names}) FROM STDIN') as copy:
                for row in rows:
                    copy.write_row(row)
    finally:
        cursor.close()


@contextmanager
def defer_indexes(db: Session, *, enabled: bool) -> Iterator[bool]:
    """Build the indexes of questions once, after the rows, if that is faster and blocks no reader.

    This applies on SQLite if the table has few questions, and on PostgreSQL if it has none, because dropping
    an index blocks readers. The indexes are dropped and rebuilt in the caller's transaction.

    Args:
        db: the importer's session.
        enabled: whether the file is large enough for this to be faster.

    Yields:
        Whether the indexes are dropped within the block.
    """
    threshold = REBUILD_INDEXES_BELOW if _is_sqlite(db) else 1
    # LIMIT, because counting a large table would take too long
    question_count = db.execute(
        select(func.count()).select_from(select(QuestionRow.id).limit(threshold).subquery())
    ).scalar_one()
    is_dropped = enabled and question_count < threshold
    if is_dropped:
        for name in _INDEXES:
            db.execute(text(f"DROP INDEX {name}"))
    if _is_sqlite(db):
        db.execute(text(f"PRAGMA cache_size = -{_CACHE_KIB}"))
    yield is_dropped
    if is_dropped:
        if _is_sqlite(db):
            # Sorting an index takes as much memory as the cache, so the cache is freed first.
            db.execute(text("PRAGMA shrink_memory"))
        for statement in _INDEXES.values():
            db.execute(text(statement))
    if _is_sqlite(db):
        db.execute(text("PRAGMA cache_size = -2000"))  # SQLite's default


def load_record_hashes(db: Session, *, dataset_id: int, keys: Iterable[str]) -> dict[str, bytes]:
    """Return {key: hash of the record} for those of the keys that exist in the dataset."""
    hashes: dict[str, bytes] = {}
    for chunk in _chunks(keys):
        statement = select(QuestionRow.key, QuestionRow.record_hash).where(
            QuestionRow.dataset_id == dataset_id,
            QuestionRow.key.in_(chunk),
        )
        hashes.update((row.key, bytes(row.record_hash)) for row in db.execute(statement))
    return hashes


def load_draw_hashes(db: Session, *, dataset_id: int) -> list[int]:
    """Return the draw hashes of all questions of the dataset. Use it only for datasets with few questions."""
    statement = select(QuestionRow.draw_hash).where(QuestionRow.dataset_id == dataset_id)
    return list(db.execute(statement).scalars())


def has_exams(db: Session, *, dataset_id: int) -> bool:
    """Return whether the dataset has any exam."""
    return db.execute(select(ExamRow.id).where(ExamRow.dataset_id == dataset_id).limit(1)).first() is not None


def load_known_exams(db: Session, *, dataset_id: int, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return id, facts and radiographs of those exams that exist in the dataset, by key.

    A value is ``{id, patient, indication, age, sex, report, radiographs: {key: (file, view, sha256, rows,
    columns)}}``, with the radiographs in the order of their positions.
    """
    facts_by_key: dict[str, dict[str, Any]] = {}
    for chunk in _chunks(keys):
        exam_statement = select(
            ExamRow.id,
            ExamRow.key,
            ExamRow.patient,
            ExamRow.indication,
            ExamRow.age,
            ExamRow.sex,
            ExamRow.report,
        ).where(ExamRow.dataset_id == dataset_id, ExamRow.key.in_(chunk))
        facts_by_id: dict[int, dict[str, Any]] = {}
        for row in db.execute(exam_statement):
            facts = dict(row._mapping)
            facts_by_key[facts.pop("key")] = facts
            facts_by_id[facts["id"]] = facts
            facts["radiographs"] = {}
        radiograph_statement = (
            select(RadiographRow, ImageRow.rows, ImageRow.columns)
            .outerjoin(ImageRow, ImageRow.sha256 == RadiographRow.image_sha256)
            .where(RadiographRow.exam_id.in_(facts_by_id))
            .order_by(RadiographRow.exam_id, RadiographRow.position)
        )
        for radiograph, rows, columns in db.execute(radiograph_statement):
            facts_by_id[radiograph.exam_id]["radiographs"][radiograph.key] = (
                radiograph.file, radiograph.view, radiograph.image_sha256, rows, columns,
            )  # fmt: skip
    return facts_by_key


def load_known_images(db: Session, *, sha256: Iterable[str]) -> set[str]:
    """Return which of these image files already have a row."""
    existing: set[str] = set()
    for chunk in _chunks(sha256):
        existing.update(db.execute(select(ImageRow.sha256).where(ImageRow.sha256.in_(chunk))).scalars())
    return existing


def add_exam_facts(db: Session, *, facts: list[dict[str, Any]]) -> None:
    """Set the facts of exams from later records.

    Each item is ``{number, new_patient, new_indication, new_age, new_sex, new_report}``; ``number`` is the
    exam's database id.
    """
    if facts:
        columns = ("patient", "indication", "age", "sex", "report")
        statement = update(ExamRow).where(ExamRow.id == bindparam("number"))
        db.connection().execute(statement.values({name: bindparam(f"new_{name}") for name in columns}), facts)


def set_radiograph_images(db: Session, *, images: list[dict[str, Any]]) -> None:
    """Set image and view of radiographs. Each item is ``{exam, name, new_sha256, new_view}``."""
    if images:
        table = RadiographRow.__table__
        statement = update(table).where(
            table.c.exam_id == bindparam("exam"), table.c.key == bindparam("name")
        )
        new_values = statement.values(image_sha256=bindparam("new_sha256"), view=bindparam("new_view"))
        db.connection().execute(new_values, images)


def _chunks(values: Iterable[str]) -> Iterator[list[str]]:
    items = list(values)
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]


def _is_sqlite(db: Session) -> bool:
    return db.get_bind().dialect.name == "sqlite"
