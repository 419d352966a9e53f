"""Tables that protect sign-in: counts of wrong passwords, and the code of the first administrator."""

from datetime import datetime

from sqlmodel import Field

from storage.rows.table_row import TableRow
from storage.types import UtcDateTime


class WrongPasswordRow(TableRow, table=True):
    """A count of consecutive wrong passwords.

    ``counted_for`` is a hash of what is counted, such as a name at one address or a name at all addresses. It
    is a hash because people may type their password into the field for the name.
    """

    __tablename__ = "wrong_password"

    counted_for: str = Field(primary_key=True)
    count: int
    last_at: datetime = Field(sa_type=UtcDateTime, index=True)


class FirstAdminCodeRow(TableRow, table=True):
    """A one-time code that creates the first administrator. Only its SHA-256 is stored."""

    __tablename__ = "first_admin_code"

    code_sha256: str = Field(primary_key=True)
    made_at: datetime = Field(sa_type=UtcDateTime)
    expires_at: datetime = Field(sa_type=UtcDateTime)
    used_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
