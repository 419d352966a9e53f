"""Tables of second factors: codes of an authenticator app, and recovery codes."""

from datetime import datetime

from sqlmodel import Field

from storage.rows import people  # noqa: F401 - registers the table of the foreign key
from storage.rows.table_row import TableRow
from storage.types import UtcDateTime


class SecondFactorRow(TableRow, table=True):
    """A person's authenticator app (TOTP). ``confirmed_at`` is None until its first code is entered.

    ``secret`` is base32. ``last_step`` is the 30-second step of the last accepted code, which must not be
    accepted twice.
    """

    __tablename__ = "second_factor"

    person_id: int = Field(primary_key=True, foreign_key="person.id")
    secret: str
    last_step: int = 0
    made_at: datetime = Field(sa_type=UtcDateTime)
    confirmed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class RecoveryCodeRow(TableRow, table=True):
    """A one-time code that replaces a code of the authenticator app. Only its SHA-256 is stored."""

    __tablename__ = "recovery_code"

    code_sha256: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id", index=True)
    used_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class PendingSignInRow(TableRow, table=True):
    """A browser in which the correct password was entered and a code is still required."""

    __tablename__ = "pending_sign_in"

    token_sha256: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id", index=True)
    way: str
    began_at: datetime = Field(sa_type=UtcDateTime)
