"""Tables of the rules on patient data, and of possible patient data in texts and pixels."""

from datetime import datetime

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, LargeBinary
from sqlmodel import Field

from storage.rows import datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class PatientDataRulesRow(TableRow, table=True):
    """The rules of this workspace: a single row, which is created with the table.

    ``pseudonym_key`` leaves storage only for the derivation of pseudonyms.
    """

    __tablename__ = "patient_data_rules"
    __table_args__ = (CheckConstraint("id = 1", name="patient_data_rules_one_row"),)

    id: int = Field(default=1, primary_key=True)
    originals: str
    confirm_pixels: str
    revision: int
    pseudonym_key: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class PixelTextRow(TableRow, table=True):
    """The amount of text that a program detected in an image's pixels."""

    __tablename__ = "pixel_text"

    image_sha256: str = Field(foreign_key="image.sha256", primary_key=True)
    score: float = Field(sa_column=Column(Float, nullable=False))
    words: int
    method: str
    ranked_at: datetime = Field(sa_type=UtcDateTime)


class PixelDecisionRow(TableRow, table=True):
    """A person's decision on text in an image's pixels. A changed decision is a new revision."""

    __tablename__ = "pixel_decision"

    image_sha256: str = Field(foreign_key="image.sha256", primary_key=True)
    revision: int = Field(primary_key=True)
    decision: str
    person_id: int | None = Field(default=None, foreign_key="person.id")
    decided_at: datetime = Field(sa_type=UtcDateTime)


class TextHitRow(TableRow, table=True):
    """A passage that may identify a patient: its position, not its content."""

    __tablename__ = "text_hit"

    question_id: int = Field(
        sa_column=Column(BigKey, ForeignKey("question.id"), primary_key=True, autoincrement=False)
    )
    field: str = Field(primary_key=True)
    begins: int = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    ends: int
    dataset_id: int = Field(foreign_key="dataset.id", index=True)
