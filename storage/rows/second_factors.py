"""Tables of the second step of signing in: a code of an authenticator app."""

from datetime import datetime

from sqlmodel import Field

from storage.rows import people  # noqa: F401 - foreign keys refer to their tables
from storage.rows.table_row import TableRow
from storage.types import UtcDateTime


class SecondFactorRow(TableRow, table=True):
    """A person's authenticator app (TOTP). ``confirmed_at`` is None until its first code was entered.

    ``secret`` is base32. ``last_step`` is the 30-second step of the last code that was accepted, so that no
    code works twice.
    """

    __tablename__ = "second_factor"

    person_id: int = Field(primary_key=True, foreign_key="person.id")
    secret: str
    last_step: int = 0
    made_at: datetime = Field(sa_type=UtcDateTime)
    confirmed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class RecoveryCodeRow(TableRow, table=True):
    """A one-time code for a person without their authenticator app. Only its SHA-256 is stored."""

    __tablename__ = "recovery_code"

    code_sha256: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id", index=True)
    used_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class PendingSignInRow(TableRow, table=True):
    """A browser that gave the right password and has yet to give a code."""

    __tablename__ = "pending_sign_in"

    token_sha256: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id", index=True)
    way: str
    began_at: datetime = Field(sa_type=UtcDateTime)
