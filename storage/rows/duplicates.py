"""Tables of the calibration of near-duplicates: drawn pairs of questions, and judgements of them."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey
from sqlmodel import Field

from storage.rows import datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class CalibrationPairRow(TableRow, table=True):
    """A pair of questions that was drawn for the calibration of a threshold.

    The pairs of a draw share ``drawn_at``; the latest draw of a dataset and embedding counts. ``weight`` is
    the number of pairs of the dataset that this pair represents.
    """

    __tablename__ = "calibration_pair"

    id: int | None = Field(default=None, primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id", index=True)
    embedding: str
    first_id: int = Field(sa_column=Column(BigKey, ForeignKey("question.id"), nullable=False))
    second_id: int = Field(sa_column=Column(BigKey, ForeignKey("question.id"), nullable=False))
    similarity: float
    weight: float
    drawn_at: datetime = Field(sa_type=UtcDateTime)


class PairJudgementRow(TableRow, table=True):
    """A judgement whether two questions are the same. The highest revision counts; null undoes it."""

    __tablename__ = "pair_judgement"

    pair_id: int = Field(foreign_key="calibration_pair.id", primary_key=True)
    revision: int = Field(primary_key=True)
    is_same: bool | None = None
    judged_by: int | None = Field(default=None, foreign_key="person.id")
    judged_at: datetime = Field(sa_type=UtcDateTime)
