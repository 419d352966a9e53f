"""An INSERT that can leave rows alone that are there already: a clause of each database's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmodel import Session

from storage.rows.table_row import TableRow

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


def insert_into(db: Session, table: type[TableRow]) -> sqlite.Insert | postgresql.Insert:
    """The INSERT of the session's database; both have ``on_conflict_do_nothing``."""
    if db.get_bind().dialect.name == "sqlite":
        from sqlalchemy.dialects import sqlite  # noqa: PLC0415 - each takes longer than a small command's work

        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - the same

    return postgresql.insert(table)
