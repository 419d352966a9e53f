"""Storage of the draws of a batch: their frames, strata and drawn questions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, or_, select
from sqlmodel import Session, col

from domain.batches import Stratum
from domain.vocabulary import Difficulty
from records.values import from_json, to_json
from storage.intake.bulk import insert_rows
from storage.rows.batches import BatchQuestionRow, BatchRow, DrawProbabilityRow, DrawRow, StratumRow
from storage.types import AnySelect

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnQuestion:
    """One drawn question: its id, its stratum, its inclusion probability, and its position."""

    number: int
    stratum: str
    inclusion_probability: float
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One draw of a batch. Its frame consists of the questions with ids in (frame_after, frame_through].

    ``id`` is None if it is not stored yet.
    """

    id: int | None = None
    number: int
    frame_after: int
    frame_through: int
    frame_size: int
    drawn_at: datetime
    strata: tuple[Stratum, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawProbabilities:
    """Risk and inclusion probability of the questions of a draw by risk, as columns of length N, by id."""

    numbers: NDArray[np.int64]
    risks: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the three columns as little-endian values of 64 bits."""
        columns = (self.numbers.astype("<i8"), self.risks.astype("<f8"), self.probabilities.astype("<f8"))
        return hashlib.sha256(b"".join(column.tobytes() for column in columns)).hexdigest()


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
            id=row.id,
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
    probabilities: DrawProbabilities | None = None,
    by: int | None,
) -> None:
    """Add a draw with its strata, drawn questions and, for a draw by risk, all probabilities."""
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
    db.flush()
    draw_id = row.id or 0
    insert_rows(
        db,
        table="batch_question",
        columns=("batch_id", "question_id", "draw_id", "stratum", "inclusion_probability", "position"),
        rows=(
            (
                batch_id, question.number, draw_id, question.stratum, question.inclusion_probability,
                question.position,
            )
            for question in list(questions)  # the iterable may query, which COPY does not allow
        ),
    )  # fmt: skip
    if probabilities is not None:
        insert_rows(
            db,
            table="draw_probability",
            columns=("draw_id", "question_id", "risk", "probability"),
            rows=zip(
                [draw_id] * len(probabilities.numbers),
                probabilities.numbers.tolist(),
                probabilities.risks.tolist(),
                probabilities.probabilities.tolist(),
                strict=True,
            ),
        )


def load_probabilities(db: Session, *, draw_id: int, question_ids: Iterable[int]) -> dict[int, float]:
    """Return the inclusion probability of those questions that are in the frame of a draw by risk."""
    numbers, probabilities = sorted(question_ids), dict[int, float]()
    for start in range(0, len(numbers), _CHUNK):
        statement = select(DrawProbabilityRow.question_id, DrawProbabilityRow.probability).where(
            DrawProbabilityRow.draw_id == draw_id,
            DrawProbabilityRow.question_id.in_(numbers[start : start + _CHUNK]),
        )
        probabilities.update((row[0], row[1]) for row in db.execute(statement))
    return probabilities


def select_certain(*, draw_id: int, outside: Sequence[tuple[int, int]]) -> list[AnySelect]:
    """Return queries for the ids of questions whose inclusion probability in the draw is 1.

    Args:
        draw_id: the id of the draw.
        outside: ranges (above, up to) of question ids. Their questions are not selected.
    """
    columns = (
        (DrawProbabilityRow.question_id, DrawProbabilityRow.draw_id, DrawProbabilityRow.probability),
        (BatchQuestionRow.question_id, BatchQuestionRow.draw_id, BatchQuestionRow.inclusion_probability),
    )
    return [
        select(col(question_id).label("question_id")).where(
            col(draw_column) == draw_id,
            col(probability) >= 1,
            *(or_(col(question_id) <= after, col(question_id) > through) for after, through in outside),
        )
        for question_id, draw_column, probability in columns
    ]


def list_seeds(db: Session, *, dataset_id: int) -> set[int]:
    """Return the seeds of the dataset's batches."""
    return set(db.execute(select(BatchRow.seed).where(BatchRow.dataset_id == dataset_id)).scalars())


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
