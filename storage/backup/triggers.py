"""A block in which no trigger of the database fires.

Triggers guard live use: they refuse what people must not do to rows that are there. A restore fills one table
after the other with rows that were accepted long ago, so no trigger must judge them. For example, a study's
orders come in after its readings.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection


@contextmanager
def without_triggers(connection: Connection) -> Iterator[None]:
    """Let no trigger fire within the block; afterwards they are what they were before.

    It is part of the caller's transaction, which must be rolled back after an error in the block: that
    restores the triggers too. PostgreSQL disables and enables triggers. SQLite can't, so they are dropped and
    made again from their own definitions.
    """
    if connection.dialect.name == "sqlite":
        query = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid"
        triggers = connection.exec_driver_sql(query).all()
        for name, _ in triggers:
            connection.exec_driver_sql(f'DROP TRIGGER "{name}"')
        yield
        for _, definition in triggers:
            connection.exec_driver_sql(definition)
        return
    tables = connection.exec_driver_sql(
        "SELECT DISTINCT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid "
        "WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace"
    )
    names = sorted(tables.scalars())
    for name in names:
        connection.exec_driver_sql(f'ALTER TABLE "{name}" DISABLE TRIGGER USER')
    yield
    for name in names:
        connection.exec_driver_sql(f'ALTER TABLE "{name}" ENABLE TRIGGER USER')
