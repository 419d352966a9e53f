"""Tables of people, their roles and their sign-ins."""

from datetime import datetime

from sqlmodel import Field

from storage.rows.table_row import TableRow
from storage.types import UtcDateTime


class PersonRow(TableRow, table=True):
    """An account. ``password_hash`` is an argon2 hash; None for people who sign in only by OIDC."""

    __tablename__ = "person"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    display_name: str
    password_hash: str | None = None
    oidc_subject: str | None = Field(default=None, unique=True)
    demo: bool = False
    created_at: datetime = Field(sa_type=UtcDateTime)
    disabled_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class PersonRoleRow(TableRow, table=True):
    """A role of a person."""

    __tablename__ = "person_role"

    person_id: int = Field(foreign_key="person.id", primary_key=True)
    role: str = Field(primary_key=True)


class InputPreferencesRow(TableRow, table=True):
    """A person's own keys and mouse button for the forms; ``preferences`` is JSON."""

    __tablename__ = "input_preferences"

    person_id: int = Field(primary_key=True, foreign_key="person.id")
    preferences: str
    changed_at: datetime = Field(sa_type=UtcDateTime)


class MailSettingRow(TableRow, table=True):
    """Where a person gets notices by e-mail; ``address`` is empty if there is none."""

    __tablename__ = "mail_setting"

    person_id: int = Field(primary_key=True, foreign_key="person.id")
    address: str
    wanted: bool
    changed_at: datetime = Field(sa_type=UtcDateTime)


class SignInRow(TableRow, table=True):
    """One signed-in browser. Only the SHA-256 of its cookie's token is stored.

    ``browser`` is a recognisable name ("Firefox on Windows"), ``way`` is the method of sign-in.
    """

    __tablename__ = "sign_in"

    token_sha256: str = Field(primary_key=True)
    person_id: int = Field(foreign_key="person.id", index=True)
    signed_in_at: datetime = Field(sa_type=UtcDateTime)
    last_seen_at: datetime = Field(sa_type=UtcDateTime, index=True)
    browser: str = Field(default="", sa_column_kwargs={"server_default": ""})
    way: str = Field(default="password", sa_column_kwargs={"server_default": "password"})
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
