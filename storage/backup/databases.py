"""The database that a backup is restored to. It is filled in one transaction and put in place on success."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from sqlalchemy import Connection, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError

from domain.errors import NotNow, Refused
from storage.backup.tables import DERIVED_TABLES, count_rows, inspect_tables
from storage.database_errors import find_cause, is_damaged
from storage.engine import make_engine
from storage.rows.all_tables import metadata
from storage.schema import list_revisions, read_revision, upgrade
from storage.workspace import Workspace

#: Suffixes of the database file, SQLite's write-ahead log and its index.
_FILE_SUFFIXES = ("", "-wal", "-shm")


def has_database(workspace: Workspace) -> bool:
    """Return False if the workspace's SQLite file is missing; True for a server, without connecting to it."""
    file = _sqlite_file(workspace)
    return file is None or file.exists()


def list_filled_tables(workspace: Workspace) -> list[str]:
    """Return the tables of the workspace's database that have more rows than in a new database.

    If the database is damaged, all tables are returned.

    Raises:
        NotNow: a database on a server cannot be reached.
    """
    if not has_database(workspace):
        return []
    engine = make_engine(workspace.database_url)
    try:
        with engine.execution_options(overread_read_only=True).connect() as connection:
            row_counts = _count_rows_by_table(connection)
            initial_counts = (
                _count_initial_rows(read_revision(connection)) if any(row_counts.values()) else {}
            )
            return [name for name, count in row_counts.items() if count > initial_counts.get(name, 0)]
    except SQLAlchemyError as error:
        if is_damaged(error):
            return [*metadata.tables]
        raise NotNow(f"The database of {workspace.home} could not be read: {find_cause(error)}.") from error
    finally:
        engine.dispose()


@contextmanager
def open_new_database(workspace: Workspace, *, previous_files: Path) -> Iterator[Connection]:
    """Open a transaction on an empty database that replaces the workspace's database when the block ends.

    An error leaves the old database unchanged. On SQLite the new database is a new file, and the old file is
    moved to the folder ``previous_files``. On a server the old tables are dropped in the same transaction.
    """
    file = _sqlite_file(workspace)
    if file is None:
        with _open_server_database(workspace) as connection:
            yield connection
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.exists():
        _check_unused(file)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".restoring-") as folder:
        new_file = Path(folder) / file.name
        engine = make_engine(f"sqlite:///{new_file}")
        try:
            with engine.connect() as connection:
                # Foreign keys are checked once, at the end, because rows are inserted unchanged.
                driver = cast("sqlite3.Connection", connection.connection.driver_connection)
                driver.execute("PRAGMA foreign_keys = OFF")
                with connection.begin():
                    yield connection
                    if violation := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                        raise ValueError(f"table {violation[0]} refers to a row that does not exist")
        finally:
            engine.dispose()  # closing the last connection checkpoints the write-ahead log into the file
        _fsync(new_file)
        for suffix in _FILE_SUFFIXES:
            old_file = file.with_name(file.name + suffix)
            if old_file.exists():
                previous_files.mkdir(parents=True, exist_ok=True)
                old_file.replace(previous_files / old_file.name)
        new_file.replace(file)
        _fsync(file.parent)


@contextmanager
def _open_server_database(workspace: Workspace) -> Iterator[Connection]:
    engine = make_engine(workspace.database_url)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("SET LOCAL TIME ZONE 'UTC'")
            connection.exec_driver_sql("SET LOCAL lock_timeout = '15s'")  # waits for transactions of the app
            _drop_everything(connection)
            if foreign_tables := [shape.name for shape in inspect_tables(connection)]:
                raise Refused(
                    f"The database has tables that are not Overread's: {', '.join(foreign_tables[:6])}."
                )
            yield connection
    finally:
        engine.dispose()


def _drop_everything(connection: Connection) -> None:
    """Drop Overread's tables and trigger functions, in any state.

    Downgrade migrations are not used: they stop if an older version could not distinguish hidden questions
    from others, and they fail if a table is missing.

    Raises:
        Refused: a newer version of Overread created the tables.
    """
    revision = read_revision(connection)
    if revision is not None and revision not in list_revisions():
        raise Refused("A newer version of Overread made the tables of this database. Use that version.")
    existing = {*inspect(connection).get_table_names()}
    for name in sorted(existing & {*metadata.tables, *DERIVED_TABLES, "alembic_version"}):
        connection.exec_driver_sql(f'DROP TABLE "{name}" CASCADE')
    functions = connection.exec_driver_sql(
        "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = current_schema()::regnamespace "
        "AND prorettype = 'trigger'::regtype AND starts_with(proname, 'refuse_')"
    )
    for function in functions.scalars().all():
        connection.exec_driver_sql(f"DROP FUNCTION {function}")


def _count_rows_by_table(connection: Connection) -> dict[str, int]:
    return {shape.name: count_rows(connection, shape.name) for shape in inspect_tables(connection)}


def _count_initial_rows(revision: str | None) -> dict[str, int]:
    """Return the number of rows by table that the migrations themselves insert, such as settings."""
    if revision not in list_revisions():
        return {}
    with tempfile.TemporaryDirectory() as folder:
        engine = make_engine(f"sqlite:///{folder}/new.sqlite")
        try:
            upgrade(engine, revision)
            with engine.connect() as connection:
                return _count_rows_by_table(connection)
        finally:
            engine.dispose()


def _check_unused(file: Path) -> None:
    """Raise Refused if another process has the database open; it would continue to write to the old file."""
    connection = sqlite3.connect(file, timeout=1)
    try:
        # SQLite can leave write-ahead mode only if no other connection is open.
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    except sqlite3.OperationalError as error:
        raise Refused(f"The database {file} is in use. Stop the app first, then restore.") from error
    except sqlite3.DatabaseError:  # the database is damaged; it is set aside unchanged
        return
    finally:
        connection.close()


def _sqlite_file(workspace: Workspace) -> Path | None:
    url = make_url(workspace.database_url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
