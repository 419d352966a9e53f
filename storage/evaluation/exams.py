"""The questions of a release with the radiographs of their exams.

Reports are loaded for judges only, never for the models that are evaluated.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlmodel import Session

from domain.evaluations import EvaluatedExam
from domain.exams import Radiograph
from storage.intake.exams import RADIOGRAPH_COLUMNS, radiograph_from_row
from storage.rows.datasets import ExamRow, ImageRow, QuestionRow, RadiographRow
from storage.rows.releases import ReleaseItemRow

_CHUNK = 500


def load_release_questions(db: Session, *, release_id: int, split: str) -> dict[str, tuple[int, int]]:
    """Return (question id, exam id) in the database for each question of a release's split.

    The keys are the ids of the questions in the imported file.
    """
    statement = (
        select(QuestionRow.key, QuestionRow.id, QuestionRow.exam_id)
        .join(ReleaseItemRow, ReleaseItemRow.question_id == QuestionRow.id)
        .where(ReleaseItemRow.release_id == release_id, ReleaseItemRow.side == split)
        .order_by(QuestionRow.id)
    )
    return {key: (row_id, exam_id) for key, row_id, exam_id in db.execute(statement)}


def load_evaluated_exams(db: Session, *, numbers: Collection[int]) -> dict[int, EvaluatedExam]:
    """Return exams by their id in the database."""
    sorted_row_ids = sorted(set(numbers))
    exams: dict[int, EvaluatedExam] = {}
    for start in range(0, len(sorted_row_ids), _CHUNK):
        chunk = sorted_row_ids[start : start + _CHUNK]
        radiographs: dict[int, list[Radiograph]] = {number: [] for number in chunk}
        statement = (
            select(RadiographRow.exam_id, *RADIOGRAPH_COLUMNS)
            .outerjoin(ImageRow, ImageRow.sha256 == RadiographRow.image_sha256)
            .where(RadiographRow.exam_id.in_(chunk))
            .order_by(RadiographRow.exam_id, RadiographRow.position)
        )
        for row in db.execute(statement):
            radiographs[row.exam_id].append(radiograph_from_row(row))
        exam_statement = select(ExamRow.id, ExamRow.key, ExamRow.patient).where(ExamRow.id.in_(chunk))
        for row in db.execute(exam_statement):
            exams[row.id] = EvaluatedExam(
                number=row.id, id=row.key, patient=row.patient, radiographs=tuple(radiographs[row.id])
            )
    return exams


def load_demographics(db: Session, *, numbers: Collection[int]) -> dict[int, tuple[str | None, str | None]]:
    """Return (sex, age) of exams as in the file, by their id in the database."""
    sorted_row_ids = sorted(set(numbers))
    return {
        row.id: (row.sex, row.age)
        for start in range(0, len(sorted_row_ids), _CHUNK)
        for row in db.execute(
            select(ExamRow.id, ExamRow.sex, ExamRow.age).where(
                ExamRow.id.in_(sorted_row_ids[start : start + _CHUNK])
            )
        )
    }


def load_reports(db: Session, *, numbers: Collection[int]) -> dict[int, str]:
    """Return the reports of exams for a judge, by exam id. Exams without a report are omitted."""
    sorted_row_ids = sorted(set(numbers))
    return {
        row.id: row.report
        for start in range(0, len(sorted_row_ids), _CHUNK)
        for row in db.execute(
            select(ExamRow.id, ExamRow.report).where(
                ExamRow.id.in_(sorted_row_ids[start : start + _CHUNK]), ExamRow.report.is_not(None)
            )
        )
    }
