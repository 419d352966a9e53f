"""Database engines, configured so that no judgement is lost."""

from __future__ import annotations

import sqlite3
import threading
import time
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.pool import ConnectionPoolEntry
from sqlmodel import create_engine

from storage.database_errors import MALFORMED
from storage.workspace import current_workspace

#: Milliseconds that a writer waits for another writer before it fails with "database is locked".
BUSY_TIMEOUT_MS = 30_000
#: Timeouts in seconds for connecting to a server, and for getting a free connection from the pool.
_CONNECT_TIMEOUT, _POOL_TIMEOUT = 5, 10
#: Milliseconds until sent data must be acknowledged, and how an idle connection is probed. Without these, a
#: query on an open connection waits a quarter of an hour if the server becomes unreachable.
_NETWORK = {
    "tcp_user_timeout": 8_000,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
}
_HOLDS_WRITE_LOCK = "overread turn"  # key in a connection's info while it holds this process's write lock


def make_engine(url: str) -> Engine:
    """Create an engine on SQLite or PostgreSQL.

    On SQLite: write-ahead log, synchronous=FULL (an acknowledged commit survives a power cut), foreign
    keys on, and every transaction begins with BEGIN IMMEDIATE, because a plain BEGIN that reads first and
    writes later fails with "database is locked" if another writer commits in between.
    A connection with ``execution_options(overread_read_only=True)`` only reads and blocks no writer. A
    connection with ``overread_lock_timeout_ms`` waits for other writers at most that many milliseconds.
    """
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(
            url,
            pool_pre_ping=True,
            pool_size=10,
            max_overflow=20,
            pool_timeout=_POOL_TIMEOUT,
            connect_args={"connect_timeout": _CONNECT_TIMEOUT, **_NETWORK},
        )
    database = make_url(url).database
    if database and database != ":memory:":
        Path(database).parent.mkdir(parents=True, exist_ok=True)
    # A waiting writer holds a connection, so the pool needs additional connections for readers.
    engine = create_engine(
        url,
        pool_size=20,
        max_overflow=100,
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    _serialize_writers(engine)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # None disables pysqlite's transaction control, which would begin transactions late and deferred.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    try:
        cursor.execute("PRAGMA journal_mode = WAL")
    except UnicodeDecodeError as error:  # SQLite's error message quotes a name that is damaged
        raise sqlite3.DatabaseError(MALFORMED) from error
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _serialize_writers(engine: Engine) -> None:
    """Queue this process's writers for SQLite's single write lock. Each starts when the previous one ends.

    SQLite itself retries after pauses of up to 100 ms, in no particular order. Among forty writers some would
    wait for seconds while others overtake them. Between processes SQLite's own retries still apply.
    """
    write_lock = threading.Lock()

    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("overread_read_only", False):
            connection.exec_driver_sql("BEGIN DEFERRED")
            return
        info = connection.info
        timeout = options.get("overread_lock_timeout_ms", BUSY_TIMEOUT_MS) / 1000
        deadline = time.monotonic() + timeout
        info[_HOLDS_WRITE_LOCK] = info.get(_HOLDS_WRITE_LOCK, False) or write_lock.acquire(timeout=timeout)
        remaining_ms = max(0, round(1000 * (deadline - time.monotonic())))
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {remaining_ms}")
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        except BaseException:  # any error, because a lock that is not released blocks all writers
            end(None, connection)
            raise
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")

    def end(_dbapi_connection: object, record: Connection | ConnectionPoolEntry) -> None:
        if record.info.pop(_HOLDS_WRITE_LOCK, False):
            write_lock.release()

    event.listen(engine, "begin", begin)
    event.listen(engine, "checkin", end)


@lru_cache(maxsize=4)
def get_engine(url: str) -> Engine:
    """Return this process's only engine for that URL."""
    return make_engine(url)


def current_engine() -> Engine:
    """Return the engine of the workspace that the environment configures."""
    return get_engine(current_workspace().database_url)
