"""Storage of a batch's rule for second opinions, and the ids of its questions."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlmodel import Session

from domain.second_opinions import SecondOpinions, SecondOpinionScope
from storage.rows.adjudications import SecondOpinionsRow
from storage.rows.batches import BatchQuestionRow
from storage.rows.datasets import QuestionRow


def find_second_opinions(db: Session, *, batch_id: int) -> SecondOpinions | None:
    """Return the batch's rule for second opinions; None if it has none."""
    row = db.get(SecondOpinionsRow, batch_id)
    if row is None:
        return None
    return SecondOpinions(scope=SecondOpinionScope(row.way), share=row.share, seed=row.seed)


def save_second_opinions(
    db: Session, *, batch_id: int, second_opinions: SecondOpinions, now: datetime
) -> None:
    """Store the rule. It replaces the previous one."""
    row = db.get(SecondOpinionsRow, batch_id) or SecondOpinionsRow(batch_id=batch_id, sought_at=now)
    row.way, row.share, row.seed, row.sought_at = (
        second_opinions.scope.value,
        second_opinions.share,
        second_opinions.seed,
        now,
    )
    db.add(row)
    db.flush()


def load_question_ids(db: Session, *, batch_id: int) -> dict[int, str]:
    """Return {database id: id in the imported file} of the batch's questions."""
    rows = db.execute(
        select(QuestionRow.id, QuestionRow.key)
        .join(BatchQuestionRow, BatchQuestionRow.question_id == QuestionRow.id)
        .where(BatchQuestionRow.batch_id == batch_id)
    )
    return {row.id: row.key for row in rows}
