"""Tables of shared queues, their pools of people and their claims."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index, UniqueConstraint
from sqlmodel import Field

from storage.rows import batches, datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class SharedQueueRow(TableRow, table=True):
    """A batch with a shared queue: ``overlap`` people per question; claims expire after ``idle_minutes``."""

    __tablename__ = "shared_queue"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    overlap: int
    idle_minutes: int


class PoolMemberRow(TableRow, table=True):
    """A person who takes questions from a shared queue.

    Each claim locks this row, so a person's claims are processed one after the other.
    """

    __tablename__ = "pool_member"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    joined_at: datetime = Field(sa_type=UtcDateTime)
    left_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ClaimRow(TableRow, table=True):
    """One judgement requested by a shared queue: a question and its turn, counted from 1.

    ``state`` is free, claimed or done. After ``expires_at`` a claim lasts until another reviewer takes it.
    """

    __tablename__ = "claim"
    __table_args__ = (
        UniqueConstraint("batch_id", "question_id", "person_id", name="claim_once_a_person"),
        # For the queue's queries of the first free judgement and of the judgement that expired first.
        Index("claim_queue", "batch_id", "state", "turn", "position"),
        Index("claim_expiry", "batch_id", "state", "expires_at"),
        Index("claim_exam", "batch_id", "exam_id", "turn"),
    )

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    turn: int = Field(primary_key=True)
    exam_id: int = Field(sa_column=Column(BigKey, nullable=False))
    position: int
    state: str
    person_id: int | None = Field(default=None, foreign_key="person.id")
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
