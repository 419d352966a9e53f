"""The image files of radiographs, without loading the exams."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select
from sqlmodel import Session

from domain.patient_data import PixelDecision
from storage.privacy.patient_data import load_latest_decisions
from storage.rows.datasets import ImageRow, RadiographRow

_RADIOGRAPH_KEYS = (
    select(RadiographRow.exam_id, RadiographRow.key)
    .where(RadiographRow.exam_id.in_(bindparam("exam_ids", expanding=True)))
    .order_by(RadiographRow.position)
)


def find_image(db: Session, *, exam_row_id: int, radiograph_key: str) -> tuple[str, str] | None:
    """Return (SHA-256, media type) of the radiograph's file; None if there is none or it was removed."""
    row = db.execute(
        select(ImageRow.sha256, ImageRow.media_type)
        .join(RadiographRow, RadiographRow.image_sha256 == ImageRow.sha256)
        .where(RadiographRow.exam_id == exam_row_id, RadiographRow.key == radiograph_key)
    ).first()
    if row is None or load_latest_decisions(db, sha256=[row.sha256]).get(row.sha256) is PixelDecision.REMOVE:
        return None
    return (row.sha256, row.media_type)


def list_radiograph_keys(db: Session, *, exam_row_ids: Sequence[int]) -> tuple[tuple[int, str], ...]:
    """Return (exam id, radiograph id) of every radiograph of the exams, in the order of ``exam_row_ids``."""
    rows = db.execute(_RADIOGRAPH_KEYS, {"exam_ids": list(exam_row_ids)})
    return tuple(
        sorted(
            ((row.exam_id, row.key) for row in rows),
            key=lambda exam_and_key: exam_row_ids.index(exam_and_key[0]),
        )
    )
