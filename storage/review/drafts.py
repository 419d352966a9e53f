"""Storage of drafts: a person's input that is not yet saved as a verdict."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select
from sqlmodel import Session

from records.values import from_json, to_json
from storage.rows.verdicts import DraftRow

_DRAFT_KEY = (
    DraftRow.batch_id == bindparam("batch_id"),
    DraftRow.question_id == bindparam("question_id"),
    DraftRow.person_id == bindparam("person_id"),
)
_SELECT_DRAFTS = (
    select(DraftRow.part, DraftRow.revision, DraftRow.body).where(*_DRAFT_KEY).order_by(DraftRow.part)
)
_DELETE_DRAFTS = delete(DraftRow).where(*_DRAFT_KEY).execution_options(synchronize_session=False)


def load_drafts(
    db: Session, *, batch_id: int, question_id: int, person_id: int
) -> dict[str, tuple[int, Any]]:
    """Return the drafts of a question by part, as (revision, plain JSON body)."""
    rows = db.execute(
        _SELECT_DRAFTS, {"batch_id": batch_id, "question_id": question_id, "person_id": person_id}
    )
    return {row.part: (row.revision, from_json(row.body)) for row in rows}


def save_draft(
    db: Session,
    *,
    batch_id: int,
    question_id: int,
    person_id: int,
    part: str,
    revision: int,
    body: Any,  # noqa: ANN401 - any JSON value
    now: datetime,
) -> None:
    """Replace the draft of the part; ``revision`` is the new revision."""
    row = db.get(DraftRow, (batch_id, question_id, person_id, part))
    if row is None:
        row = DraftRow(
            batch_id=batch_id,
            question_id=question_id,
            person_id=person_id,
            part=part,
            body="",
            changed_at=now,
        )
    row.revision, row.body, row.changed_at = revision, to_json(body), now
    db.add(row)
    db.flush()


def clear_drafts(db: Session, *, batch_id: int, question_id: int, person_id: int) -> None:
    """Delete the drafts of a question after its verdict was saved."""
    db.execute(_DELETE_DRAFTS, {"batch_id": batch_id, "question_id": question_id, "person_id": person_id})
