"""Finds radiographs that may not be sent to a model."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlmodel import Session

from domain.patient_data import PixelDecision
from storage.privacy.patient_data import load_latest_decisions
from storage.rows.datasets import ExamRow, RadiographRow


def find_unavailable_images(db: Session, *, dataset_id: int, sha256: Collection[str]) -> set[str]:
    """Return those images that the dataset does not contain, or that must be removed (patient data)."""
    wanted = sorted(set(sha256))
    statement = (
        select(RadiographRow.image_sha256)
        .join(ExamRow, ExamRow.id == RadiographRow.exam_id)
        .where(ExamRow.dataset_id == dataset_id, RadiographRow.image_sha256.in_(wanted))
    )
    present = set(db.execute(statement).scalars())
    decisions = load_latest_decisions(db, sha256=sorted(present))
    removed = {image for image, decision in decisions.items() if decision is PixelDecision.REMOVE}
    return set(wanted) - present | removed
