"""Pairs of questions that were drawn for a calibration, and their judgements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.duplicates import CalibrationPair
from domain.errors import AlreadyThere
from storage.rows.duplicates import CalibrationPairRow, PairJudgementRow


def add_pairs(
    db: Session, *, dataset_id: int, embedding: str, pairs: Sequence[CalibrationPair], now: datetime
) -> None:
    """Add the pairs of a draw."""
    if pairs:
        db.execute(
            insert(CalibrationPairRow),
            [
                {
                    "dataset_id": dataset_id,
                    "embedding": embedding,
                    "first_id": pair.first,
                    "second_id": pair.second,
                    "similarity": pair.similarity,
                    "weight": pair.weight,
                    "drawn_at": now,
                }
                for pair in pairs
            ],
        )


def load_pairs(db: Session, *, dataset_id: int, embedding: str) -> list[CalibrationPair]:
    """Return the pairs of the latest draw in the order of the draw, with their latest judgements."""
    calibration_filter = (
        CalibrationPairRow.dataset_id == dataset_id,
        CalibrationPairRow.embedding == embedding,
    )
    latest_draw = select(func.max(CalibrationPairRow.drawn_at)).where(*calibration_filter).scalar_subquery()
    statement = (
        select(CalibrationPairRow, PairJudgementRow.is_same)
        .outerjoin(
            PairJudgementRow,
            (PairJudgementRow.pair_id == CalibrationPairRow.id)
            & (
                PairJudgementRow.revision
                == select(func.max(PairJudgementRow.revision))
                .where(PairJudgementRow.pair_id == CalibrationPairRow.id)
                .correlate(CalibrationPairRow)
                .scalar_subquery()
            ),
        )
        .where(*calibration_filter, CalibrationPairRow.drawn_at == latest_draw)
        .order_by(CalibrationPairRow.id)
    )
    return [_pair_from_row(row, is_same) for row, is_same in db.execute(statement)]


def find_dataset_of_pair(db: Session, *, pair_id: int) -> int | None:
    """Return the id of the dataset of a pair; None if there is no such pair."""
    statement = select(CalibrationPairRow.dataset_id).where(CalibrationPairRow.id == pair_id)
    return db.execute(statement).scalar_one_or_none()


def append_judgement(
    db: Session, *, pair_id: int, is_same: bool | None, person_id: int | None, now: datetime
) -> None:
    """Append a judgement of a pair. ``is_same`` None undoes the previous judgement.

    Raises:
        AlreadyThere: another judgement was saved at the same moment.
    """
    highest = select(func.max(PairJudgementRow.revision)).where(PairJudgementRow.pair_id == pair_id)
    values = {
        "pair_id": pair_id,
        "revision": (db.execute(highest).scalar_one() or 0) + 1,
        "is_same": is_same,
        "judged_by": person_id,
        "judged_at": now,
    }
    try:
        with db.begin_nested():  # a savepoint, because a duplicate must not undo the caller's other work
            db.execute(insert(PairJudgementRow), [values])
    except IntegrityError as error:
        raise AlreadyThere("Another judgement of this pair has just been saved.") from error


def _pair_from_row(row: CalibrationPairRow, is_same: bool | None) -> CalibrationPair:
    return CalibrationPair(
        id=row.id or 0,
        first=row.first_id,
        second=row.second_id,
        similarity=row.similarity,
        weight=row.weight,
        is_same=is_same,
    )
