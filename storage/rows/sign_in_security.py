"""Tables for signing in: wrong passwords, and the code of the first administrator."""

from datetime import datetime

from sqlmodel import Field

from storage.rows.table_row import TableRow
from storage.types import UtcDateTime


class WrongPasswordRow(TableRow, table=True):
    """Consecutive wrong passwords. ``counted_for`` is a hash of a name at an address, a name anywhere, ….

    It is hashed because people may type their password into the field of the name.
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
