"""Copies of questions in unlisted datasets: hidden questions and practice questions."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import select
from sqlmodel import Session

from domain.draw_hash import compute_draw_hash
from domain.questions import Question
from records.questions import question_to_columns
from storage.rows.datasets import QuestionRow

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


def load_question_columns(db: Session, numbers: set[int]) -> dict[int, dict[str, Any]]:
    """Return all columns of these questions, by question id."""
    columns: dict[int, dict[str, Any]] = {}
    sorted_ids = sorted(numbers)
    for start in range(0, len(sorted_ids), _CHUNK):
        chunk = sorted_ids[start : start + _CHUNK]
        for row in db.execute(select(*QuestionRow.__table__.c).where(QuestionRow.id.in_(chunk))):
            columns[row.id] = dict(row._mapping)
    return columns


def copy_question(
    source: dict[str, Any],
    altered: Question | None,
    *,
    number: int,
    mark: str,
    dataset_id: int,
    import_id: int,
) -> dict[str, Any]:
    """Return the columns of a copy of a question.

    Args:
        source: the columns of the question.
        altered: the copy's content; None to copy the question's content.
        number: the id of the copy.
        mark: the text between the key of the question and the id in the key of the copy. The key identifies
            the copy to a coordinator; reviewers never see it.
        dataset_id: the unlisted dataset of the copy.
        import_id: the import of that dataset.
    """
    key = f"{source['key']}{mark}{number})"
    return {
        **source,
        **(question_to_columns(altered) if altered is not None else {}),
        "id": number,
        "key": key,
        "dataset_id": dataset_id,
        "import_id": import_id,
        "draw_hash": compute_draw_hash(key),
        "record_hash": hashlib.blake2b(key.encode(), digest_size=16).digest(),
    }
