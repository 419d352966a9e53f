"""Table of the controlled names that datasets give to raw names."""

from datetime import datetime

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from storage.rows import datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import UtcDateTime


class NameMappingRow(TableRow, table=True):
    """The controlled name of a raw name in a dataset; append-only by trigger.

    The highest revision counts; null means that the dataset has no mapping of its own. ``field`` is a value
    of ``terminology.taxonomy.NamedField``.
    """

    __tablename__ = "name_mapping"
    __table_args__ = (UniqueConstraint("dataset_id", "field", "raw_name", "revision"),)

    id: int | None = Field(default=None, primary_key=True)
    dataset_id: int = Field(foreign_key="dataset.id")
    field: str
    raw_name: str
    revision: int
    controlled_name: str | None = None
    mapped_by: int | None = Field(default=None, foreign_key="person.id")
    mapped_at: datetime = Field(sa_type=UtcDateTime)
