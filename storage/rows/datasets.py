"""Tables of imported data: datasets, exams, radiographs, image files, questions, problems."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, ForeignKey, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field

from storage.rows import people  # noqa: F401 - registers the table of the foreign key
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class DatasetRow(TableRow, table=True):
    """A named collection of questions.

    ``minimum_explanation`` is a setting of the format check, in characters.
    """

    __tablename__ = "dataset"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    minimum_explanation: int = 20
    created_at: datetime = Field(sa_type=UtcDateTime)


class ImportRow(TableRow, table=True):
    """One imported file: who imported it, and how many of its records were new, known and refused.

    ``questions`` counts new records, ``known`` records that the dataset already had. ``expectations`` is
    JSON: the fields that the file's format has for each question; None if it has all of them.
    """

    __tablename__ = "import_run"

    id: int | None = Field(default=None, primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id", index=True)
    file_name: str
    file_sha256: str
    file_format: str
    questions: int
    known: int
    refused: int
    imported_by: int | None = Field(default=None, foreign_key="person.id")
    imported_at: datetime = Field(sa_type=UtcDateTime)
    expectations: str | None = None


class ImageRow(TableRow, table=True):
    """An imported image file. Its content is in the image store under its SHA-256; ``bytes`` is its size."""

    __tablename__ = "image"

    sha256: str = Field(primary_key=True)
    media_type: str
    bytes: int
    rows: int
    columns: int
    bits: int
    photometric: str


class ExamRow(TableRow, table=True):
    """An exam. ``key`` is its id in the imported file.

    The importer assigns the values of ``id`` in blocks while it holds the import lock, so the database does
    not generate them.
    """

    __tablename__ = "exam"
    __table_args__ = (UniqueConstraint("dataset_id", "key"),)

    id: int = Field(sa_column=Column(BigKey, primary_key=True, autoincrement=False))
    dataset_id: int = Field(foreign_key="dataset.id")
    key: str
    patient: str | None = None
    indication: str | None = None
    age: str | None = None
    sex: str | None = None
    report: str | None = None


class RadiographRow(TableRow, table=True):
    """A radiograph of an exam. ``key`` is its id in the imported file; ``position`` counts from 0."""

    __tablename__ = "radiograph"

    exam_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("exam.id"), primary_key=True, autoincrement=False)
    )
    key: str = Field(primary_key=True)
    position: int
    file: str
    view: str
    image_sha256: str | None = Field(default=None, foreign_key="image.sha256", index=True)


class QuestionRow(TableRow, table=True):
    """A question as imported. Lists are JSON text; ``answer`` is JSON too (a list of indices, or a string).

    ``key`` is the question's id in the imported file. ``draw_hash`` is a signed 64-bit hash of ``key`` that
    sampling mixes with its seed. ``record_hash`` is a 128-bit hash of the record, by which an import
    recognises existing records.
    """

    __tablename__ = "question"
    __table_args__ = (
        Index("question_dataset_key", "dataset_id", "key", unique=True),
        Index("question_exam", "exam_id"),
    )

    id: int = Field(sa_column=Column(BigKey, primary_key=True, autoincrement=False))
    dataset_id: int = Field(foreign_key="dataset.id")
    key: str
    exam_id: int = Field(sa_column=Column(BigKey, ForeignKey("exam.id"), nullable=False))
    import_id: int = Field(foreign_key="import_run.id")
    format: str
    stem: str
    options: str = "[]"
    answer: str
    also_right: str = "[]"
    explanation: str = ""
    boxes: str = "[]"
    task: str | None = None
    content_type: str | None = None
    category: str | None = None
    subcategory: str | None = None
    difficulty: str | None = None
    generator: str | None = None
    generator_version: str | None = None
    prompt_version: str | None = None
    draw_hash: int = Field(sa_column=Column(BigInteger, nullable=False))
    record_hash: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class QuestionProvenanceRow(TableRow, table=True):
    """The origin of a generated question as JSON; append-only by trigger. See :mod:`records.provenance`."""

    __tablename__ = "question_provenance"

    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    content: str


class ProblemRow(TableRow, table=True):
    """A problem that a check reported in a question."""

    __tablename__ = "problem"
    __table_args__ = (Index("problem_dataset_check", "dataset_id", "check_name"),)

    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    check_name: str = Field(primary_key=True)
    field: str = Field(primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id")
    reason: str
