"""Tables of practice sets: their questions with known answers, who must pass them, and who did."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field

from storage.rows import batches, datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class PracticeSetRow(TableRow, table=True):
    """A practice set; append-only by trigger. It is a batch whose questions are in an unlisted dataset."""

    __tablename__ = "practice_set"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id", unique=True)
    import_id: int = Field(foreign_key="import_run.id")
    source: str
    min_found: float
    min_accepted: float


class PracticeQuestionRow(TableRow, table=True):
    """A practice question with its known answer; append-only by trigger.

    ``source_id`` is the copied question. ``errors`` and ``correction`` are JSON.
    """

    __tablename__ = "practice_question"
    __table_args__ = (Index("practice_question_batch", "batch_id", "position"),)

    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    batch_id: int = Field(foreign_key="batch.id")
    source_id: int = Field(sa_column=Column(BigKey, ForeignKey("question.id"), nullable=False))
    position: int
    decision: str
    errors: str = "[]"
    correction: str = "{}"
    explanation: str = ""


class PracticeRequirementRow(TableRow, table=True):
    """A practice set that qualifies reviewers for a batch. One passed set of several is sufficient."""

    __tablename__ = "practice_requirement"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    practice_id: int = Field(foreign_key="batch.id", primary_key=True)
    required_by: int | None = Field(default=None, foreign_key="person.id")
    required_at: datetime = Field(sa_type=UtcDateTime)


class PracticeResultRow(TableRow, table=True):
    """A reviewer's result in a practice set, once all its questions are judged; append-only by trigger."""

    __tablename__ = "practice_result"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    faulty: int
    found: int
    sound: int
    accepted: int
    passed: bool
    completed_at: datetime = Field(sa_type=UtcDateTime)


class PracticeExemptionRow(TableRow, table=True):
    """A coordinator's permission to review a batch without a practice set; append-only by trigger."""

    __tablename__ = "practice_exemption"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    reason: str
    granted_by: int | None = Field(default=None, foreign_key="person.id")
    granted_at: datetime = Field(sa_type=UtcDateTime)
