"""INSERT with ON CONFLICT DO NOTHING, which is specific to each database's dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmodel import Session

from storage.rows.table_row import TableRow

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


def insert_into(db: Session, table: type[TableRow]) -> sqlite.Insert | postgresql.Insert:
    """Return the INSERT of the session's dialect; both have ``on_conflict_do_nothing``."""
    if db.get_bind().dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite  # noqa: PLC0415 - each import takes longer than a small command

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - the same

    return postgresql.insert(table)
