"""Storage of the draws of a batch: their frames, strata and drawn questions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlmodel import Session

from domain.batches import Stratum
from domain.vocabulary import Difficulty
from records.values import from_json, to_json
from storage.rows.batches import BatchQuestionRow, DrawRow, StratumRow


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnQuestion:
    """One drawn question: its id, its stratum, the inclusion probability n / N, and its position."""

    number: int
    stratum: str
    inclusion_probability: float
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One draw of a batch. Its frame consists of the questions with ids in (frame_after, frame_through]."""

    number: int
    frame_after: int
    frame_through: int
    frame_size: int
    drawn_at: datetime
    strata: tuple[Stratum, ...]


def list_draws(db: Session, *, batch_id: int) -> tuple[Draw, ...]:
    """Return the draws of a batch in order, with their strata by tier: easy, medium, hard, none."""
    strata: dict[int, list[Stratum]] = {}
    statement = (
        select(StratumRow)
        .join(DrawRow, DrawRow.id == StratumRow.draw_id)
        .where(DrawRow.batch_id == batch_id)
        .order_by(StratumRow.draw_id)
    )
    for row in db.execute(statement).scalars():
        strata.setdefault(row.draw_id, []).append(_stratum_from_row(row))
    draws = db.execute(select(DrawRow).where(DrawRow.batch_id == batch_id).order_by(DrawRow.number)).scalars()
    return tuple(
        Draw(
            number=row.number,
            frame_after=row.frame_after,
            frame_through=row.frame_through,
            frame_size=row.frame_size,
            drawn_at=row.drawn_at,
            # Sorted in Python, because the two databases sort text by different rules.
            strata=tuple(sorted(strata.get(row.id or 0, ()), key=_display_order)),
        )
        for row in draws
    )


def add_draw(
    db: Session,
    *,
    batch_id: int,
    draw: Draw,
    questions: Iterable[DrawnQuestion],
    by: int | None,
) -> None:
    """Add a draw with its strata and drawn questions."""
    row = DrawRow(
        batch_id=batch_id,
        number=draw.number,
        frame_after=draw.frame_after,
        frame_through=draw.frame_through,
        frame_size=draw.frame_size,
        drawn_by=by,
        drawn_at=draw.drawn_at,
    )
    db.add(row)
    db.flush()
    db.add_all(
        StratumRow(
            draw_id=row.id or 0,
            tier=str(stratum.tier or ""),
            further=to_json(list(stratum.further)),
            size=stratum.size,
            drawn=stratum.drawn,
        )
        for stratum in draw.strata
    )
    values = [
        {
            "batch_id": batch_id,
            "question_id": question.number,
            "draw_id": row.id,
            "stratum": question.stratum,
            "inclusion_probability": question.inclusion_probability,
            "position": question.position,
        }
        for question in questions
    ]
    if values:
        db.execute(insert(BatchQuestionRow), values)
    db.flush()


def load_last_position(db: Session, *, batch_id: int) -> int:
    """Return the highest position of the batch; 0 if it is empty. Positions count from 1."""
    statement = select(func.max(BatchQuestionRow.position)).where(BatchQuestionRow.batch_id == batch_id)
    return db.execute(statement).scalar_one() or 0


def _display_order(stratum: Stratum) -> tuple[int, tuple[str, ...]]:
    return (*Difficulty, None).index(stratum.tier), stratum.further


def _stratum_from_row(row: StratumRow) -> Stratum:
    return Stratum(
        tier=Difficulty(row.tier) if row.tier else None,
        further=tuple(from_json(row.further)),
        size=row.size,
        drawn=row.drawn,
    )
