"""Tables of batches: their draws, strata, questions and assignments."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index, UniqueConstraint, false
from sqlmodel import Field

from storage.rows import datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class BatchRow(TableRow, table=True):
    """A batch; ``plan`` and ``anchors`` are JSON. ``revision`` counts changes of its settings, from 1."""

    __tablename__ = "batch"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    dataset_id: int = Field(foreign_key="dataset.id", index=True)
    seed: int = Field(sa_type=BigKey)
    plan: str
    mode: str
    parts: str
    show_report: bool = False
    one_key_accept: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    guideline: str = ""
    anchors: str
    state: str
    revision: int = 1
    created_by: int | None = Field(default=None, foreign_key="person.id")
    created_at: datetime = Field(sa_type=UtcDateTime)
    changed_by: int | None = Field(default=None, foreign_key="person.id")
    changed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class DrawRow(TableRow, table=True):
    """One draw of a batch. Its frame consists of the questions with ids in (frame_after, frame_through]."""

    __tablename__ = "draw"
    __table_args__ = (UniqueConstraint("batch_id", "number"),)

    id: int | None = Field(default=None, primary_key=True)
    batch_id: int = Field(foreign_key="batch.id")
    number: int
    frame_after: int = Field(sa_type=BigKey)
    frame_through: int = Field(sa_type=BigKey)
    frame_size: int
    drawn_by: int | None = Field(default=None, foreign_key="person.id")
    drawn_at: datetime = Field(sa_type=UtcDateTime)


class StratumRow(TableRow, table=True):
    """A stratum of a draw: its size and number drawn. ``tier`` is "" for no tier; ``further`` is JSON."""

    __tablename__ = "stratum"

    draw_id: int = Field(foreign_key="draw.id", primary_key=True)
    tier: str = Field(primary_key=True)
    further: str = Field(default="[]", primary_key=True)
    size: int
    drawn: int


class BatchQuestionRow(TableRow, table=True):
    """A question of a batch. Questions of one exam have adjacent positions."""

    __tablename__ = "batch_question"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False, index=True)
    )
    draw_id: int = Field(foreign_key="draw.id")
    stratum: str
    inclusion_probability: float
    position: int


class DrawProbabilityRow(TableRow, table=True):
    """The risk and inclusion probability of a question in a draw by risk, whether it was drawn or not.

    A draw has a row for each question of its frame, including those that an earlier batch drew. The entry
    of the draw in the audit trail has a hash of the rows.
    """

    __tablename__ = "draw_probability"

    draw_id: int = Field(foreign_key="draw.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    risk: float
    probability: float


class AssignmentRow(TableRow, table=True):
    """A question assigned to a person. ``state`` is open, done, skipped or withdrawn."""

    __tablename__ = "assignment"
    __table_args__ = (
        # For the queue's query of the first open question of a person in a batch.
        Index("assignment_queue", "person_id", "batch_id", "state", "position"),
        Index("assignment_batch_question", "batch_id", "question_id"),
    )

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    position: int
    state: str
    assigned_at: datetime = Field(sa_type=UtcDateTime)
    changed_at: datetime = Field(sa_type=UtcDateTime)
