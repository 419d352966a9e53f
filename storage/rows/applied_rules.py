"""Tables of bulk actions, which the tables call rules; all three are append-only by trigger."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field

from storage.rows import batches, datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class AppliedRuleRow(TableRow, table=True):
    """A bulk action that rejected or queued questions. ``what`` is "reject" or "queue", ``search`` is JSON.

    ``batch_id`` is the batch into which they were queued. Such a batch is not a random sample.
    """

    __tablename__ = "applied_rule"

    id: int = Field(sa_column=Column(BigKey, primary_key=True, autoincrement=False))
    dataset_id: int = Field(foreign_key="dataset.id")
    what: str
    search: str
    reason: str
    questions: int
    batch_id: int | None = Field(default=None, foreign_key="batch.id")
    person_id: int | None = Field(default=None, foreign_key="person.id")
    applied_at: datetime = Field(sa_type=UtcDateTime)


class AppliedQuestionRow(TableRow, table=True):
    """A question that a bulk action was applied to."""

    __tablename__ = "applied_question"
    __table_args__ = (Index("applied_question_question", "question_id"),)

    rule_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("applied_rule.id"), primary_key=True, autoincrement=False)
    )
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )


class UndoneRuleRow(TableRow, table=True):
    """A bulk action that was undone: when, by whom and why."""

    __tablename__ = "rule_taken_back"

    rule_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("applied_rule.id"), primary_key=True, autoincrement=False)
    )
    reason: str
    person_id: int | None = Field(default=None, foreign_key="person.id")
    taken_back_at: datetime = Field(sa_type=UtcDateTime)
