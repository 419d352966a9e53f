"""Tables of releases, their questions, and problems reported in them."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index, UniqueConstraint
from sqlmodel import Field

from storage.rows import datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class ReleaseRow(TableRow, table=True):
    """A release: its name, number of items, folder, and the SHA-256 of its manifest.

    ``rule`` is the text of the rule by which questions were released.
    """

    __tablename__ = "release"
    __table_args__ = (UniqueConstraint("dataset_id", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id")
    name: str
    rule: str
    items: int
    manifest_sha256: str
    folder: str
    made_by: int | None = Field(default=None, foreign_key="person.id")
    made_at: datetime = Field(sa_type=UtcDateTime)


class ReleaseItemRow(TableRow, table=True):
    """A question of a release; ``side`` is its split: public, private, train, valid or test."""

    __tablename__ = "release_item"
    __table_args__ = (Index("release_item_question", "question_id"),)

    release_id: int = Field(foreign_key="release.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    side: str


class ErratumReportRow(TableRow, table=True):
    """A problem that a person reported in a released question; append-only by trigger.

    ``side`` is the split of the question in that release. ``released`` is JSON: the question as the release
    has it, with its key.
    """

    __tablename__ = "erratum_report"
    __table_args__ = (
        UniqueConstraint("release_id", "question_id", "reported_by", "kind"),
        Index("erratum_report_question", "question_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    release_id: int = Field(foreign_key="release.id")
    question_id: int = Field(sa_column=Column(BigKey, ForeignKey("question.id"), nullable=False))
    side: str
    kind: str
    text: str
    released: str
    reported_by: int | None = Field(default=None, foreign_key="person.id")
    reported_at: datetime = Field(sa_type=UtcDateTime)
