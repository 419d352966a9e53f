"""A context manager that disables all triggers of the database.

In normal use triggers refuse forbidden changes to existing rows. A restore fills one table after the other
with rows that were accepted before, so triggers must not check them again. For example, a study's slots are
inserted after its readings.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection


@contextmanager
def without_triggers(connection: Connection) -> Iterator[None]:
    """Disable all triggers within the block and restore them afterwards.

    This is part of the caller's transaction, which must be rolled back after an error in the block; that also
    restores the triggers. PostgreSQL disables and enables triggers. SQLite cannot, so they are dropped and
    recreated from their definitions.
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
