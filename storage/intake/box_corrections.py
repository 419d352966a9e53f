"""Loading of questions and radiographs that new boxes belong to, and writing of these boxes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, bindparam, select, union, update
from sqlmodel import Session

from storage.browsing.search import add_to_index, remove_from_index
from storage.rows.batches import BatchQuestionRow
from storage.rows.datasets import ExamRow, ImageRow, QuestionRow, RadiographRow
from storage.rows.releases import ReleaseItemRow
from storage.rows.studies import CaseRow

_T = TypeVar("_T")
_COLUMNS = QuestionRow.__table__.c
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


class RadiographFacts(NamedTuple):
    """A radiograph with its exam and the size of its image; None without an image."""

    exam_id: int
    exam: str
    key: str
    file: str
    sha256: str | None
    rows: int | None
    columns: int | None


class QuestionFacts(NamedTuple):
    """A question with the texts that name a finding, and its boxes as JSON."""

    number: int
    key: str
    exam_id: int
    stem: str
    options: str
    category: str | None
    boxes: str


_SELECT_QUESTIONS = select(
    QuestionRow.id, QuestionRow.key, QuestionRow.exam_id, QuestionRow.stem, QuestionRow.options,
    QuestionRow.category, QuestionRow.boxes,
)  # fmt: skip


def iterate_radiographs(db: Session, *, dataset_id: int) -> Iterator[RadiographFacts]:
    """Yield all radiographs of a dataset."""
    rows = db.execute(
        select(
            RadiographRow.exam_id, ExamRow.key, RadiographRow.key.label("name"), RadiographRow.file,
            RadiographRow.image_sha256, ImageRow.rows, ImageRow.columns,
        )
        .join(ExamRow, ExamRow.id == RadiographRow.exam_id)
        .outerjoin(ImageRow, ImageRow.sha256 == RadiographRow.image_sha256)
        .where(ExamRow.dataset_id == dataset_id)
    )  # fmt: skip
    return (RadiographFacts(*row) for row in rows)


def load_questions_by_key(db: Session, *, dataset_id: int, keys: Collection[str]) -> list[QuestionFacts]:
    """Return the questions with these ids in the file. Ids that do not exist are ignored."""
    return _load_questions(db, _COLUMNS.key, keys, _COLUMNS.dataset_id == dataset_id)


def load_questions_of_exams(db: Session, *, exam_ids: Collection[int]) -> list[QuestionFacts]:
    """Return all questions of these exams."""
    return _load_questions(db, _COLUMNS.exam_id, exam_ids)


def find_used_questions(db: Session, *, numbers: Iterable[int]) -> set[int]:
    """Return which of the questions are in a batch, a study or a release."""
    used: set[int] = set()
    for chunk in _chunks(numbers):
        used.update(
            db.execute(
                union(
                    *(
                        select(table.question_id).where(table.question_id.in_(chunk))
                        for table in (BatchQuestionRow, CaseRow, ReleaseItemRow)
                    )
                )
            ).scalars()
        )
    return used


def write_boxes(db: Session, *, boxes: Mapping[int, str]) -> None:
    """Set the boxes of questions, as JSON by question id, and update the search index."""
    if not boxes:
        return
    indexed = remove_from_index(db, question_ids=boxes)
    statement = update(QuestionRow.__table__).where(_COLUMNS.id == bindparam("number"))
    db.connection().execute(
        statement.values(boxes=bindparam("new_boxes")),
        [{"number": number, "new_boxes": content} for number, content in boxes.items()],
    )
    add_to_index(db, question_ids=indexed)


def _load_questions(
    db: Session,
    column: ColumnElement[Any],
    values: Collection[str] | Collection[int],
    *conditions: ColumnElement[bool],
) -> list[QuestionFacts]:
    return [
        QuestionFacts(*row)
        for chunk in _chunks(values)
        for row in db.execute(
            _SELECT_QUESTIONS.where(column.in_(chunk), *conditions).order_by(QuestionRow.id)
        )
    ]


def _chunks(values: Iterable[_T]) -> Iterator[list[_T]]:
    items = list(values)
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]
