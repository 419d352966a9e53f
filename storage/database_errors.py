"""Converts database errors to messages. Statements and values are omitted: they may contain patient data."""

from __future__ import annotations

import sqlite3
from typing import TypeAlias

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from domain.errors import NotNow

#: Errors of SQLAlchemy, and of SQLite's driver, which some modules use directly.
DATABASE_ERRORS = (SQLAlchemyError, sqlite3.Error)
DatabaseError: TypeAlias = SQLAlchemyError | sqlite3.Error
#: PostgreSQL's codes for damaged tables and indexes.
_DAMAGE_CODES = ("XX001", "XX002")
#: SQLite's message for a damaged file.
MALFORMED = "database disk image is malformed"
_DISK_FULL_MESSAGES = ("disk is full", "No space left on device")


class DatabaseDamaged(NotNow):
    """The database's file is damaged."""

    def __init__(self, cause: str) -> None:
        super().__init__(
            f"The database is damaged ({cause}); nothing was saved. The server's administrator must stop the "
            "app, keep a copy of the database, and restore the last backup (`cli.py restore --replace FILE`)."
        )


def find_cause(error: DatabaseError) -> str:
    """Return the first line of the driver's message; for errors of SQLAlchemy itself, the type's name."""
    if isinstance(error, SQLAlchemyError) and not isinstance(error, DBAPIError):
        return type(error).__name__
    driver_error = getattr(error, "orig", error)
    return (str(driver_error).splitlines() or [type(driver_error).__name__])[0]


def is_disk_full(error: DatabaseError) -> bool:
    """Return whether the database could not write because its disk is full."""
    return any(message in find_cause(error) for message in _DISK_FULL_MESSAGES)


def is_damaged(error: DatabaseError) -> bool:
    """Return whether the database reports that its file is damaged."""
    driver_error = getattr(error, "orig", error)
    if getattr(driver_error, "sqlstate", None) in _DAMAGE_CODES or MALFORMED in str(driver_error):
        return True
    primary_code = getattr(driver_error, "sqlite_errorcode", 0) & 0xFF  # the other bits give details
    return primary_code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def to_domain_error(error: DatabaseError, *, problem: str) -> NotNow:
    """Convert a database error to an error whose message can be shown.

    Args:
        error: the database error.
        problem: the beginning of the message, such as "No backup was written".
    """
    if is_damaged(error):
        return DatabaseDamaged(find_cause(error))
    if is_disk_full(error):
        return NotNow(f"{problem}: the disk is full. Free up space, then try again.")
    return NotNow(f"{problem}: {find_cause(error)}.")
