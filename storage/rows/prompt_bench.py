"""Tables of prompt benches: their versions, reports, experts and scores."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, ForeignKey, ForeignKeyConstraint
from sqlmodel import Field

from storage.rows import datasets, language_models, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class PromptBenchRow(TableRow, table=True):
    """A bench. ``seed`` determines its reports, and the order of reports and outputs of each expert."""

    __tablename__ = "prompt_bench"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    dataset_id: int = Field(foreign_key="dataset.id")
    seed: int = Field(sa_type=BigInteger)
    created_by: int | None = Field(default=None, foreign_key="person.id")
    created_at: datetime = Field(sa_type=UtcDateTime)


class BenchVersionRow(TableRow, table=True):
    """A version of a prompt in a bench, by its run; ``position`` counts from 1."""

    __tablename__ = "bench_version"

    bench_id: int = Field(foreign_key="prompt_bench.id", primary_key=True)
    position: int = Field(primary_key=True)
    run_id: int = Field(foreign_key="model_run.id", unique=True)


class BenchReportRow(TableRow, table=True):
    """An exam whose report is in a bench; ``position`` counts from 1."""

    __tablename__ = "bench_report"

    bench_id: int = Field(foreign_key="prompt_bench.id", primary_key=True)
    position: int = Field(primary_key=True)
    exam_id: int = Field(sa_column=Column(BigKey, ForeignKey("exam.id"), nullable=False, index=True))


class BenchExpertRow(TableRow, table=True):
    """A person who scores the outputs of a bench."""

    __tablename__ = "bench_expert"

    bench_id: int = Field(foreign_key="prompt_bench.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True, index=True)
    assigned_at: datetime = Field(sa_type=UtcDateTime)


class BenchScoreRow(TableRow, table=True):
    """A score of an expert; append-only by trigger. The highest revision counts; ``score`` None undoes it."""

    __tablename__ = "bench_score"
    __table_args__ = (
        ForeignKeyConstraint(["bench_id", "version"], ["bench_version.bench_id", "bench_version.position"]),
        ForeignKeyConstraint(["bench_id", "report"], ["bench_report.bench_id", "bench_report.position"]),
        ForeignKeyConstraint(["bench_id", "person_id"], ["bench_expert.bench_id", "bench_expert.person_id"]),
    )

    bench_id: int = Field(primary_key=True)
    person_id: int = Field(primary_key=True)
    report: int = Field(primary_key=True)
    version: int = Field(primary_key=True)
    scale: str = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    score: int | None = None
    scored_at: datetime = Field(sa_type=UtcDateTime)
