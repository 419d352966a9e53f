"""Tables of second opinions and adjudications."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field

from storage.rows import batches, datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class AdjudicationRow(TableRow, table=True):
    """An adjudication; append-only by trigger.

    ``correction`` and ``follows`` are JSON. ``follows`` is a list of the ids of the reviewers whose verdict
    is adopted.
    """

    __tablename__ = "adjudication"
    __table_args__ = (Index("adjudication_question", "question_id"),)

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    revision: int = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id")
    decision: str
    correction: str = "{}"
    follows: str = "[]"
    reason: str
    given_at: datetime = Field(sa_type=UtcDateTime)
    image: str | None = None


class AdjudicationRulesRow(TableRow, table=True):
    """The adjudication rules of a batch. ``revision`` counts the changes, from 1.

    ``same_box`` is the minimum intersection over union at which two boxes count as equal.
    """

    __tablename__ = "adjudication_rules"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    hide_names: bool = True
    same_box: float = 0.5
    revision: int = 1


class AdjudicatorRow(TableRow, table=True):
    """An adjudicator of a batch. ``named_at`` is the time at which the person became its adjudicator."""

    __tablename__ = "adjudicator"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    named_at: datetime = Field(sa_type=UtcDateTime)


class SecondOpinionsRow(TableRow, table=True):
    """A batch's rule for second opinions: ``way`` is the scope, ``share`` the random share of questions."""

    __tablename__ = "second_opinions"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    way: str = "share"
    share: float = 1.0
    seed: int = 0
    sought_at: datetime = Field(sa_type=UtcDateTime)
