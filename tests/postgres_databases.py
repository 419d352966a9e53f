"""The databases of tests on PostgreSQL.

Creating a database copies about 900 files, which takes .3 to 1 s of processor time. Therefore a database is
emptied after a test and given to the next one under another name, unless the test changed more than rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg.rows import TupleRow
from sqlalchemy import Connection, make_url
from sqlalchemy.exc import DBAPIError

#: A database with larger tables is dropped, because emptying it takes longer than copying the template.
_MAX_BYTES = 16_000_000

_CATALOGS = """
    SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace AND NOT relisshared ORDER BY relname
"""
_SETTINGS = """
    SELECT datdba, datallowconn, datconnlimit, datacl::text,
        (SELECT count(*) FROM pg_db_role_setting WHERE setdatabase = pg_database.oid)
    FROM pg_database WHERE datname = current_database()
"""
_STORED_TABLES = """
    SELECT relname, pg_total_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0
    ORDER BY relname
"""
_RESTART_SEQUENCES = """
    SELECT setval(seqrelid::regclass, seqstart, false) FROM pg_sequence
    WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""
# The planner assumes rows in a table that was never vacuumed (-1), but none in one vacuumed while empty.
_FORGET_VACUUM = """
    UPDATE pg_class SET reltuples = -1
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples <> -1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Database:
    """A database that is equal to the template, with the state of its schema and the template's rows."""

    name: str
    schema: list[TupleRow]
    rows: dict[str, list[TupleRow]]


@dataclass(slots=True, kw_only=True)
class DatabasePool:
    """The databases that one process of the tests has on a server.

    ``server`` is the server's URL, ``template`` the database that is copied. ``administration`` is a
    connection that commits each statement.
    """

    server: str
    administration: Connection
    template: str
    _unused: list[_Database] = field(default_factory=list)

    @contextmanager
    def lend(self) -> Iterator[str]:
        """Lend a database that is equal to the template. Yields its URL; no name is used twice."""
        database = self._unused.pop() if self._unused else self._create()
        yield self._make_url(database.name)
        name = _make_name()
        try:
            self._rename(database.name, name)
            with self._connect(name) as connection:
                schema = _empty(connection, database)
        except (psycopg.Error, DBAPIError):  # for example, the database accepts no more connections
            schema = None
        if schema is None:
            self._administer(f'DROP DATABASE IF EXISTS "{database.name}" WITH (FORCE)')
            self._administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        else:
            self._unused.append(_Database(name=name, schema=schema, rows=database.rows))

    def _create(self) -> _Database:
        name = _make_name()
        # Copying the template's files takes a third of the time of copying through the write-ahead log.
        self._administer(f'CREATE DATABASE "{name}" TEMPLATE "{self.template}" STRATEGY FILE_COPY')
        with self._connect(name) as connection:
            return _Database(name=name, schema=_read_schema(connection), rows=_read_rows(connection))

    def _rename(self, name: str, new_name: str) -> None:
        """Close the connections and rename the database, so that remaining processes of the test lose it."""
        self._administer(
            f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'"
        )
        self._administer(f'ALTER DATABASE "{name}" RENAME TO "{new_name}"')

    def _administer(self, statement: str) -> None:
        self.administration.exec_driver_sql(statement)

    def _make_url(self, name: str) -> str:
        return make_url(self.server).set(database=name).render_as_string(hide_password=False)

    def _connect(self, name: str) -> psycopg.Connection[TupleRow]:
        return psycopg.connect(self._make_url(name).replace("+psycopg", "", 1), autocommit=True)


def _make_name() -> str:
    return f"overread_test_{os.getpid()}_{os.urandom(4).hex()}"


def _empty(connection: psycopg.Connection[TupleRow], database: _Database) -> list[TupleRow] | None:
    """Remove the rows of a test and return the schema's state; None if the test changed more than rows.

    TRUNCATE would be slower: it creates new files for each table that refers to an emptied one, and for their
    indexes. VACUUM makes the emptied tables as short as new ones.
    """
    if _read_schema(connection) != database.schema:
        return None
    sizes: dict[str, int] = dict(connection.execute(_STORED_TABLES).fetchall())
    if sum(sizes.values()) > _MAX_BYTES:
        return None
    tables = [f'"{table}"' for table in sizes if table not in database.rows]
    connection.execute("SET session_replication_role = replica")  # no triggers, no foreign keys
    for table in tables:
        connection.execute(f"DELETE FROM {table}")
    if tables:
        connection.execute(f"VACUUM (INDEX_CLEANUP ON) {', '.join(tables)}")
        connection.execute(_FORGET_VACUUM)
    connection.execute(_RESTART_SEQUENCES)
    return _read_schema(connection) if _read_rows(connection) == database.rows else None


def _read_rows(connection: psycopg.Connection[TupleRow]) -> dict[str, list[TupleRow]]:
    """Return the rows of each table that is not empty."""
    tables = [table for table, _ in connection.execute(_STORED_TABLES)]
    return {
        table: connection.execute(f'SELECT t::text FROM "{table}" t ORDER BY 1').fetchall()
        for table in tables
    }


def _read_schema(connection: psycopg.Connection[TupleRow]) -> list[TupleRow]:
    """Return the database's settings and, per catalog, its number of rows and its latest transaction.

    Each change of a schema inserts, replaces or deletes a row of a catalog.
    """
    catalogs = [name for (name,) in connection.execute(_CATALOGS)]
    states = " UNION ALL ".join(
        f"SELECT '{name}', count(*), max(xmin::text::bigint) FROM pg_catalog.{name}" for name in catalogs
    )
    return connection.execute(_SETTINGS).fetchall() + connection.execute(states).fetchall()
