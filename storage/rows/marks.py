"""Tables of the marks of open answers and of extracted answers, and of the people who mark."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint
from sqlmodel import Field

from storage.rows import datasets, people, studies  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class StudyMarkerRow(TableRow, table=True):
    """The person who marks the open answers of a study; ``place`` is the role, first or second marker."""

    __tablename__ = "study_marker"
    __table_args__ = (UniqueConstraint("study_id", "person_id"),)

    study_id: int = Field(foreign_key="reader_study.id", primary_key=True)
    place: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id", index=True)
    assigned_at: datetime = Field(sa_type=UtcDateTime)


class AnswerMarkRow(TableRow, table=True):
    """A mark of an open answer; append-only by trigger. The highest revision counts.

    ``text_sha256`` is the hash of the normalised answer, so equal answers have one mark. ``mark`` is None if
    the mark was undone.
    """

    __tablename__ = "answer_mark"
    __table_args__ = (
        ForeignKeyConstraint(["case_id", "study_id"], ["study_case.id", "study_case.study_id"]),
        Index("answer_mark_study", "study_id", "place"),
    )

    case_id: int = Field(primary_key=True)
    text_sha256: str = Field(primary_key=True)
    place: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    study_id: int
    mark: str | None = None
    marked_by: int = Field(foreign_key="person.id")
    marked_at: datetime = Field(sa_type=UtcDateTime)


class ExtractionMarkRow(TableRow, table=True):
    """Whether an answer was extracted correctly from a reply; append-only by trigger.

    The highest revision counts. ``mark`` is None if the mark was undone.
    """

    __tablename__ = "extraction_mark"

    model_id: int = Field(foreign_key="model.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    revision: int = Field(primary_key=True)
    mark: str | None = None
    marked_by: int | None = Field(default=None, foreign_key="person.id")
    marked_at: datetime = Field(sa_type=UtcDateTime)
