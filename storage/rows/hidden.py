"""Tables of hidden questions and of the batches that have them."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field

from storage.rows import batches, datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class HiddenSetRow(TableRow, table=True):
    """A batch with hidden questions: the dataset of these questions, and the mask of their ids.

    ``plan`` is the latest plan as JSON. ``id_mask`` is the number with which the ids of questions are masked,
    so that they do not reveal hidden questions.
    """

    __tablename__ = "hidden_set"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id")
    import_id: int = Field(foreign_key="import_run.id")
    id_mask: int = Field(sa_column=Column("veil", BigKey, nullable=False))
    plan: str
    changed_at: datetime = Field(sa_type=UtcDateTime)


class HiddenQuestionRow(TableRow, table=True):
    """A hidden question of one person in one batch.

    ``source_id`` is the copied question. In a shared queue it is shown after the person has
    judged ``after`` questions. ``hidden_at`` is the time at which it was added to the batch.
    """

    __tablename__ = "hidden_question"
    __table_args__ = (Index("hidden_question_person", "batch_id", "person_id"),)

    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    batch_id: int = Field(foreign_key="batch.id")
    person_id: int = Field(foreign_key="person.id")
    kind: str
    fault: str | None = None
    source_id: int = Field(sa_column=Column(BigKey, ForeignKey("question.id"), nullable=False))
    after: int = 0
    hidden_at: datetime = Field(sa_type=UtcDateTime)
    removed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    removed_by: int | None = Field(default=None, foreign_key="person.id")
    removed_why: str = ""
