"""Tables of reader studies: protocol, cases, readers, slots, readings; and models with their predictions.

The key of a case is in a separate table, so that a case is loaded for a reader without its key.
"""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint
from sqlmodel import Field

from storage.rows import datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class ReaderStudyRow(TableRow, table=True):
    """A study. ``design`` is JSON. After the first reading a trigger freezes all columns except the state."""

    __tablename__ = "reader_study"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    dataset_id: int = Field(foreign_key="dataset.id", index=True)
    source_kind: str
    source_name: str = ""
    design: str
    state: str
    simulated: bool = False
    created_by: int | None = Field(default=None, foreign_key="person.id")
    created_at: datetime = Field(sa_type=UtcDateTime)


class ProtocolRow(TableRow, table=True):
    """One version of a study's protocol; append-only by trigger. ``body`` is canonical JSON."""

    __tablename__ = "study_protocol"

    study_id: int = Field(foreign_key="reader_study.id", primary_key=True)
    version: int = Field(primary_key=True)
    body: str
    sha256: str
    why: str = ""
    answers_before: int = 0
    written_by: int | None = Field(default=None, foreign_key="person.id")
    written_at: datetime = Field(sa_type=UtcDateTime)


class CaseRow(TableRow, table=True):
    """A question of a study as readers see it, without its answer; append-only by trigger."""

    __tablename__ = "study_case"
    __table_args__ = (
        UniqueConstraint("study_id", "number"),
        UniqueConstraint("study_id", "question_id"),
        UniqueConstraint("id", "study_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    study_id: int = Field(foreign_key="reader_study.id")
    number: int
    kind: str
    question_id: int = Field(sa_column=Column(BigKey, ForeignKey("question.id"), nullable=False, index=True))
    exam_id: int = Field(sa_column=Column(BigKey, ForeignKey("exam.id"), nullable=False, index=True))
    key: str
    format: str
    stem: str
    options: str = "[]"
    asks_box: bool = False
    sha256: str


class CaseKeyRow(TableRow, table=True):
    """The answer of a case and how it was drawn; append-only by trigger. It is never loaded for a reader."""

    __tablename__ = "study_case_key"

    case_id: int = Field(foreign_key="study_case.id", primary_key=True)
    answer: str
    also_right: str = "[]"
    explanation: str = ""
    boxes: str = "[]"
    task: str | None = None
    content_type: str | None = None
    category: str | None = None
    subcategory: str | None = None
    difficulty: str | None = None
    stratum: str
    inclusion_probability: float


class StudyReaderRow(TableRow, table=True):
    """A reader of a study with a copy of the profile. ``person_id`` is None for an external reader."""

    __tablename__ = "study_reader"
    __table_args__ = (
        UniqueConstraint("study_id", "name"),
        UniqueConstraint("study_id", "person_id"),
        UniqueConstraint("id", "study_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    study_id: int = Field(foreign_key="reader_study.id")
    person_id: int | None = Field(default=None, foreign_key="person.id", index=True)
    name: str
    display_name: str
    level: str | None = None
    years: float | None = None
    subspecialty: str = ""
    of_reference: bool = False
    simulated: bool = False
    guideline_read_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class SlotRow(TableRow, table=True):
    """One position in a reader's order. A trigger freezes it after the study's first reading."""

    __tablename__ = "study_slot"
    __table_args__ = (
        UniqueConstraint("reader_id", "case_id", "arm", "repeat"),
        ForeignKeyConstraint(["reader_id", "study_id"], ["study_reader.id", "study_reader.study_id"]),
        ForeignKeyConstraint(["case_id", "study_id"], ["study_case.id", "study_case.study_id"]),
        Index("study_slot_case", "case_id"),
        Index("study_slot_study", "study_id"),
    )

    reader_id: int = Field(primary_key=True)
    position: int = Field(primary_key=True)
    study_id: int
    case_id: int
    arm: str
    repeat: int = 0
    period: int = 1
    option_order: str = "[]"


class ReadingRow(TableRow, table=True):
    """A reading; append-only by trigger. ``answer`` is JSON and refers to the question's own option order.

    ``outside`` is True for readings that were imported from a file.
    """

    __tablename__ = "reading"
    __table_args__ = (
        ForeignKeyConstraint(["reader_id", "study_id"], ["study_reader.id", "study_reader.study_id"]),
        ForeignKeyConstraint(["case_id", "study_id"], ["study_case.id", "study_case.study_id"]),
        Index("reading_study", "study_id", "case_id"),
    )

    reader_id: int = Field(primary_key=True)
    case_id: int = Field(primary_key=True)
    arm: str = Field(primary_key=True)
    repeat: int = Field(primary_key=True)
    revision: int = Field(primary_key=True)
    study_id: int
    position: int
    period: int = 1
    protocol_version: int
    answer: str | None = None
    cannot_determine: bool = False
    faulty: str = ""
    confidence: int | None = None
    boxes: str = "[]"
    seconds: float
    seconds_looking: float
    seconds_away: float
    began_at: datetime = Field(sa_type=UtcDateTime)
    read_at: datetime = Field(sa_type=UtcDateTime)
    outside: bool = False
    image: str | None = None


class ReadingDraftRow(TableRow, table=True):
    """A reader's unsaved input for a case, and the time spent so far; ``body`` is JSON."""

    __tablename__ = "reading_draft"

    reader_id: int = Field(foreign_key="study_reader.id", primary_key=True)
    case_id: int = Field(foreign_key="study_case.id", primary_key=True)
    arm: str = Field(primary_key=True)
    repeat: int = Field(primary_key=True)
    revision: int = 0
    body: str = "{}"
    seconds: float = 0.0
    seconds_looking: float = 0.0
    seconds_away: float = 0.0
    began_at: datetime = Field(sa_type=UtcDateTime)
    changed_at: datetime = Field(sa_type=UtcDateTime)


class ExclusionRow(TableRow, table=True):
    """A case, a reader or a pair of both that is excluded from the analysis; append-only by trigger."""

    __tablename__ = "study_exclusion"

    id: int | None = Field(default=None, primary_key=True)
    study_id: int = Field(foreign_key="reader_study.id", index=True)
    case_id: int | None = Field(default=None, foreign_key="study_case.id")
    reader_id: int | None = Field(default=None, foreign_key="study_reader.id")
    why: str
    excluded_by: int | None = Field(default=None, foreign_key="person.id")
    excluded_at: datetime = Field(sa_type=UtcDateTime)


class ModelRow(TableRow, table=True):
    """A model with imported predictions on a dataset's questions."""

    __tablename__ = "model"
    __table_args__ = (UniqueConstraint("dataset_id", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id")
    name: str
    simulated: bool = False
    created_at: datetime = Field(sa_type=UtcDateTime)


class PredictionRunRow(TableRow, table=True):
    """One imported file of predictions."""

    __tablename__ = "prediction_run"

    id: int | None = Field(default=None, primary_key=True)
    model_id: int = Field(foreign_key="model.id", index=True)
    file_name: str
    file_sha256: str
    predictions: int
    failed: int
    refused: int
    imported_by: int | None = Field(default=None, foreign_key="person.id")
    imported_at: datetime = Field(sa_type=UtcDateTime)


class PredictionRow(TableRow, table=True):
    """A model's answer to a question; append-only by trigger.

    ``answer`` is None if none could be extracted from ``raw``. ``rule`` is the rule that extracted it.
    ``probability`` is None if the model stated none.
    """

    __tablename__ = "prediction"

    model_id: int = Field(foreign_key="model.id", primary_key=True)
    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False, index=True)
    )
    run_id: int = Field(foreign_key="prediction_run.id")
    answer: str | None = None
    raw: str | None = None
    rule: str
    explanation: str = ""
    boxes: str = "[]"
    seconds: float | None = None
    probability: float | None = None
