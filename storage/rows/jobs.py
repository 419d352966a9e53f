"""The table of background jobs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index
from sqlmodel import Field

from storage.rows import people  # noqa: F401 - registers the table of the foreign key
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class JobRow(TableRow, table=True):
    """A job with the fields of ``domain.jobs.Job``.

    Its migration also creates the unique index ``job_active`` on kind and subject of unfinished jobs. The
    index is not declared here, because SQLAlchemy would then load PostgreSQL's dialect on SQLite too.
    """

    __tablename__ = "job"
    __table_args__ = (
        Index("job_subject", "kind", "subject"),
        Index("job_owner", "owner_id", "kind"),
    )

    id: int | None = Field(default=None, primary_key=True)
    kind: str
    subject: str
    action: str
    owner_id: int | None = Field(default=None, foreign_key="person.id")
    parameters: str
    status: str
    done: int = Field(default=0, sa_type=BigKey)
    total: int = Field(default=0, sa_type=BigKey)
    unit: str = ""
    note: str = ""
    checkpoint: str | None = None
    message: str = ""
    result: str | None = None
    attempts: int = 0
    cancel_requested: bool = False
    dismissed: bool = False
    worker: str | None = None
    lease_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    not_before: datetime | None = Field(default=None, sa_type=UtcDateTime)
    created_at: datetime = Field(sa_type=UtcDateTime)
    started_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
