"""Loading of exams. Reports are loaded only on request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlalchemy import bindparam, select
from sqlmodel import Session

from domain.errors import NotFound
from domain.exams import Exam, Radiograph
from domain.vocabulary import Sex, View
from storage.rows.datasets import ExamRow, ImageRow, QuestionRow, RadiographRow
from storage.types import AnyRow

# Built once, because every verdict runs these several times.
_EXAM_ID = select(QuestionRow.exam_id).where(QuestionRow.id == bindparam("question_id"))
_EXAM = select(ExamRow.key, ExamRow.patient, ExamRow.indication, ExamRow.age, ExamRow.sex).where(
    ExamRow.id == bindparam("exam_id")
)
#: Columns of a radiograph and its image, with the names that :func:`radiograph_from_row` uses.
RADIOGRAPH_COLUMNS = (
    RadiographRow.key.label("radiograph_key"),
    RadiographRow.file,
    RadiographRow.view,
    RadiographRow.image_sha256,
    ImageRow.rows.label("image_rows"),
    ImageRow.columns.label("image_columns"),
)
_RADIOGRAPHS = (
    select(*RADIOGRAPH_COLUMNS)
    .outerjoin(ImageRow, ImageRow.sha256 == RadiographRow.image_sha256)
    .where(RadiographRow.exam_id == bindparam("exam_id"))
    .order_by(RadiographRow.position)
)


def load_exam_row_id(db: Session, *, question_id: int) -> int:
    """Return the id of the exam that a question is about.

    Raises:
        NotFound: no question has that id.
    """
    exam_id = db.execute(_EXAM_ID, {"question_id": question_id}).scalar_one_or_none()
    if exam_id is None:
        raise NotFound(f"There is no question number {question_id}.")
    return int(exam_id)


def load_exam(db: Session, *, exam_id: int, with_report: bool = False) -> Exam:
    """Return the exam with its radiographs in the order of the file. ``report`` is None unless requested.

    Raises:
        NotFound: no exam has that id.
    """
    row = db.execute(_EXAM, {"exam_id": exam_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no exam number {exam_id}.")
    return Exam(
        id=row.key,
        patient=row.patient,
        indication=row.indication,
        age=row.age,
        sex=Sex(row.sex) if row.sex else None,
        report=load_report(db, exam_id=exam_id) if with_report else None,
        radiographs=_load_radiographs(db, exam_id),
    )


def load_exam_without_information(db: Session, *, exam_id: int) -> Exam:
    """Return the exam with its radiographs, but without clinical information and without the views.

    Raises:
        NotFound: no exam has that id.
    """
    key = db.execute(select(ExamRow.key).where(ExamRow.id == exam_id)).scalar_one_or_none()
    if key is None:
        raise NotFound(f"There is no exam number {exam_id}.")
    radiographs = tuple(
        replace(radiograph, view=View.UNKNOWN) for radiograph in _load_radiographs(db, exam_id)
    )
    return Exam(id=key, radiographs=radiographs)


def load_report(db: Session, *, exam_id: int) -> str | None:
    """Return the report's text; None if the file had none."""
    return db.execute(select(ExamRow.report).where(ExamRow.id == exam_id)).scalar_one_or_none()


def exam_from_row(row: AnyRow, radiographs: Iterable[Radiograph]) -> Exam:
    """Return the exam, without report, from a row with columns ``exam_key``, ``exam_patient`` and so on."""
    return Exam(
        id=row.exam_key,
        patient=row.exam_patient,
        indication=row.exam_indication,
        age=row.exam_age,
        sex=Sex(row.exam_sex) if row.exam_sex else None,
        radiographs=tuple(radiographs),
    )


def radiograph_from_row(row: AnyRow) -> Radiograph:
    """Return the radiograph from a row with :data:`RADIOGRAPH_COLUMNS`."""
    return Radiograph(
        id=row.radiograph_key,
        file=row.file,
        view=View(row.view),
        rows=row.image_rows,
        columns=row.image_columns,
        sha256=row.image_sha256,
    )


def _load_radiographs(db: Session, exam_id: int) -> tuple[Radiograph, ...]:
    return tuple(radiograph_from_row(row) for row in db.execute(_RADIOGRAPHS, {"exam_id": exam_id}))
