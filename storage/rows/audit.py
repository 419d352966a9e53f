"""Table of the audit trail; append-only by trigger."""

from datetime import datetime

from sqlalchemy import Column, Index
from sqlmodel import Field

from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime

#: Columns of the table that are named differently from the fields of :class:`domain.audit.AuditEntry`.
AUDIT_COLUMNS = {"action": "what", "reason": "why"}


class AuditRow(TableRow, table=True):
    """One entry. ``number`` counts from 1 without a gap.

    ``what`` is the action, ``why`` the reason; ``old`` and ``new`` are canonical JSON.
    There is no foreign key to the person, so that entries are independent of the account.
    """

    __tablename__ = "audit_entry"
    __table_args__ = (
        Index("audit_entry_at", "at"),
        Index("audit_entry_person", "person_name", "number"),
        Index("audit_entry_what", "what", "number"),
        Index("audit_entry_subject", "subject", "number"),
    )

    number: int = Field(sa_column=Column(BigKey, primary_key=True, autoincrement=False))
    at: datetime = Field(sa_type=UtcDateTime)
    person_id: int | None = None
    person_name: str
    what: str
    subject: str
    old: str | None = None
    new: str | None = None
    why: str = ""
    previous_hash: str
    hash: str
