"""INSERT with ON CONFLICT, which SQLAlchemy provides separately for each dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmodel import Session

from storage.rows.table_row import TableRow

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


def insert_into(db: Session, table: type[TableRow]) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT of the session's dialect. Both dialects support ``on_conflict_do_nothing``."""
    if db.get_bind().dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite  # noqa: PLC0415 - importing both dialects would slow down the start

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - as above

    return postgresql.insert(table)
