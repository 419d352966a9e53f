"""Tables of region checks: their reports, experts and marks."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, ForeignKey, ForeignKeyConstraint
from sqlmodel import Field

from storage.rows import datasets, language_models, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class RegionCheckRow(TableRow, table=True):
    """A check of the grounded reports of a run. ``seed`` determines its reports and the experts' orders."""

    __tablename__ = "region_check"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    run_id: int = Field(foreign_key="model_run.id")
    dataset_id: int | None = Field(default=None, foreign_key="dataset.id")
    seed: int = Field(sa_type=BigInteger)
    created_by: int | None = Field(default=None, foreign_key="person.id")
    created_at: datetime = Field(sa_type=UtcDateTime)


class RegionCheckReportRow(TableRow, table=True):
    """A report of a check, as the experts see it; ``position`` counts from 1.

    ``exam`` is the exam's id in the source, ``exam_id`` its id in the database if it was imported.
    ``sentences`` and ``checked`` are JSON lists, as in `domain.region_checks.CheckedReport`.
    """

    __tablename__ = "region_check_report"

    check_id: int = Field(foreign_key="region_check.id", primary_key=True)
    position: int = Field(primary_key=True)
    exam: str
    exam_id: int | None = Field(
        default=None, sa_column=Column(BigKey, ForeignKey("exam.id"), nullable=True, index=True)
    )
    sentences: str
    checked: str


class RegionCheckExpertRow(TableRow, table=True):
    """A person who marks the sentences of a check."""

    __tablename__ = "region_check_expert"

    check_id: int = Field(foreign_key="region_check.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True, index=True)
    assigned_at: datetime = Field(sa_type=UtcDateTime)


class RegionCheckMarkRow(TableRow, table=True):
    """A mark of a sentence; append-only by trigger. The highest revision counts; ``mark`` None undoes it."""

    __tablename__ = "region_check_mark"
    __table_args__ = (
        ForeignKeyConstraint(
            ["check_id", "report"], ["region_check_report.check_id", "region_check_report.position"]
        ),
        ForeignKeyConstraint(
            ["check_id", "person_id"], ["region_check_expert.check_id", "region_check_expert.person_id"]
        ),
    )

    check_id: int = Field(primary_key=True)
    person_id: int = Field(primary_key=True)
    report: int = Field(primary_key=True)
    sentence: int = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    mark: str | None = None
    marked_at: datetime = Field(sa_type=UtcDateTime)
