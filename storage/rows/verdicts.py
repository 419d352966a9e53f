"""Tables of reviewers' judgements: verdicts, own answers and skips (append-only), drafts, viewing times.

``image`` is a value of ``domain.image_display.ImageDisplay``; NULL means that it was not recorded.
"""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field

from storage.rows import batches, datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


def _question_key_column() -> Column[int]:
    return Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)


class VerdictRow(TableRow, table=True):
    """A verdict; append-only by trigger. ``errors`` and ``correction`` are JSON."""

    __tablename__ = "verdict"
    __table_args__ = (
        Index("verdict_question", "question_id"),
        # For a person's last verdict in a batch, and the pace of their latest verdicts.
        Index("verdict_person", "batch_id", "person_id", "given_at"),
    )

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(sa_column=_question_key_column())
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    revision: int = Field(primary_key=True)
    decision: str
    clinical_quality: int | None = None
    explanation_clarity: int | None = None
    factual_correctness: int | None = None
    image_alignment: int | None = None
    domain_specific: bool | None = None
    cognitive_depth: bool | None = None
    image_centric: bool | None = None
    clinically_relevant: bool | None = None
    difficulty: str | None = None
    errors: str = "[]"
    correction: str = "{}"
    clinical_reasoning: str = ""
    comment: str = ""
    why: str = ""
    seconds: float
    seconds_looking: float
    seconds_away: float
    given_at: datetime = Field(sa_type=UtcDateTime)
    image: str | None = None


class OwnAnswerRow(TableRow, table=True):
    """The reviewer's own answer, given before the key was loaded; append-only by trigger."""

    __tablename__ = "own_answer"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(sa_column=_question_key_column())
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    answer: str | None = None
    confidence: int
    committed_at: datetime = Field(sa_type=UtcDateTime)
    image: str | None = None


class SkipRow(TableRow, table=True):
    """A skip of a question, with the reason; append-only by trigger. ``number`` counts from 1."""

    __tablename__ = "skip"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(sa_column=_question_key_column())
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    number: int = Field(primary_key=True)
    reason: str
    skipped_at: datetime = Field(sa_type=UtcDateTime)


class ReportOpeningRow(TableRow, table=True):
    """The opening of a report, with the image alignment that was rated before; append-only by trigger."""

    __tablename__ = "report_opening"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(sa_column=_question_key_column())
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    image_alignment: int
    opened_at: datetime = Field(sa_type=UtcDateTime)
    image: str | None = None


class DraftRow(TableRow, table=True):
    """A person's unsaved input; ``body`` is JSON."""

    __tablename__ = "draft"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(sa_column=_question_key_column())
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    part: str = Field(primary_key=True)
    revision: int = 1
    body: str
    changed_at: datetime = Field(sa_type=UtcDateTime)


class ViewingTimeRow(TableRow, table=True):
    """Time spent on a question so far, as measured by the browser; it never decreases."""

    __tablename__ = "look"

    batch_id: int = Field(foreign_key="batch.id", primary_key=True)
    question_id: int = Field(sa_column=_question_key_column())
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    seconds: float = 0.0
    seconds_looking: float = 0.0
    seconds_away: float = 0.0
    first_opened_at: datetime = Field(sa_type=UtcDateTime)
    changed_at: datetime = Field(sa_type=UtcDateTime)
