"""The exams of a dataset that have a report, for examples of prompts and for prompt benches."""

from __future__ import annotations

from sqlalchemy import select
from sqlmodel import Session

from storage.rows.datasets import ExamRow


def list_exams_with_report(db: Session, *, dataset_id: int) -> list[int]:
    """Return the ids of the exams with a report, in the order of import."""
    statement = (
        select(ExamRow.id)
        .where(ExamRow.dataset_id == dataset_id, ExamRow.report.is_not(None), ExamRow.report != "")
        .order_by(ExamRow.id)
    )
    return list(db.execute(statement).scalars())


def find_exam(db: Session, *, dataset_id: int, key: str) -> int | None:
    """Return the id of the exam with that id in its file; None if there is none."""
    statement = select(ExamRow.id).where(ExamRow.dataset_id == dataset_id, ExamRow.key == key)
    return db.execute(statement).scalar_one_or_none()
