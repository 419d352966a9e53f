"""Tables of shared queues: batches whose questions go to whoever is free, and who holds which of them."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index, UniqueConstraint
from sqlmodel import Field

from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class SharedQueueRow(TableRow, table=True):
    """A batch with a shared queue: ``overlap`` people judge each question, ``idle_minutes`` frees a claim."""

    __tablename__ = "shared_queue"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    overlap: int
    idle_minutes: int


class PoolMemberRow(TableRow, table=True):
    """Somebody who takes questions from a shared queue. Locked by each of their claims: one at a time."""

    __tablename__ = "pool_member"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    joined_at: datetime = Field(sa_type=UtcDateTime)
    left_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ClaimRow(TableRow, table=True):
    """One judgement that a shared queue asks for: a question, and which of its turns, counted from 1.

    ``state`` is free, claimed (until ``expires_at``, and on until somebody else takes it) or done.
    """

    __tablename__ = "claim"
    __table_args__ = (
        UniqueConstraint("batch_id", "question_id", "person_id", name="claim_once_a_person"),
        # What the queue asks for: the first free judgement, and the one that expired first.
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
