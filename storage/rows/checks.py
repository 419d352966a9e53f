"""Table of the checks of each dataset."""

from datetime import datetime

from sqlalchemy import Column
from sqlmodel import Field

from storage.rows import datasets  # noqa: F401 - foreign keys refer to its tables
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class DatasetCheckRow(TableRow, table=True):
    """A check of a dataset: whether it is switched on, and how far it has run.

    A question that was checked and has no row in ``problem`` has passed, so passed questions need no rows.
    Question ids only increase and questions never change: all
    questions up to ``checked_through`` were checked by ``version`` with ``settings`` (JSON).
    ``missing_needs`` (JSON) has the number of questions that were not checked, by what they lack.
    """

    __tablename__ = "dataset_check"

    dataset_id: int = Field(foreign_key="dataset.id", primary_key=True)
    check_name: str = Field(primary_key=True)
    is_on: bool
    version: int | None = None
    settings: str
    checked_through: int = Field(sa_column=Column(BigKey, nullable=False))
    missing_needs: str
    checked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
