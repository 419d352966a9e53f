"""Engines: how each database is opened so that no judgement is lost."""

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

from storage.workspace import current_workspace

#: How long a writer waits for another one before "database is locked", in milliseconds.
BUSY_TIMEOUT_MS = 30_000
#: Seconds until a server that does not answer is given up, and until a connection of the pool must be free.
_CONNECT_TIMEOUT, _POOL_TIMEOUT = 5, 10
#: For a server that the network has swallowed. Without it a question on an open connection waits a quarter of
#: an hour: milliseconds until what was sent must be acknowledged, and how a silent connection is probed.
_NETWORK = {
    "tcp_user_timeout": 8_000,
    "keepalives_idle": 10,
    "keepalives_interval": 3,
    "keepalives_count": 3,
}
_TURN = "overread turn"  # in a connection's info, while it has this process's turn to write


def make_engine(url: str) -> Engine:
    """An engine on SQLite or PostgreSQL.

    On SQLite: write-ahead log, synchronous=FULL (an acknowledged commit survives a power cut), foreign
    keys on, and every transaction begun with BEGIN IMMEDIATE, since a plain BEGIN that reads first and
    writes later fails with "database is locked" when another writer came between.
    A connection with ``execution_options(overread_read_only=True)`` reads only and makes no writer wait;
    one with ``overread_patience_ms`` waits for other writers no longer than that.
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
    # Who waits to write holds a connection meanwhile; readers must find one beside them.
    engine = create_engine(
        url,
        pool_size=20,
        max_overflow=100,
        connect_args={"check_same_thread": False, "timeout": BUSY_TIMEOUT_MS / 1000},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    _take_turns(engine)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # None hands transaction control to us: pysqlite would begin late, and deferred.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _take_turns(engine: Engine) -> None:
    """Let this process's writers queue for SQLite's one writing place, each waking as the last one ends.

    SQLite by itself lets them look again after pauses of up to 100 ms, in no order: among forty of them some
    wait for seconds while others pass. Writers of other processes are met in SQLite's own way.
    """
    turn = threading.Lock()

    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get("overread_read_only", False):
            connection.exec_driver_sql("BEGIN DEFERRED")
            return
        held = connection.info
        patience = options.get("overread_patience_ms", BUSY_TIMEOUT_MS) / 1000
        until = time.monotonic() + patience
        held[_TURN] = held.get(_TURN, False) or turn.acquire(timeout=patience)
        left = max(0, round(1000 * (until - time.monotonic())))
        connection.exec_driver_sql(f"PRAGMA busy_timeout = {left}")
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        except BaseException:  # for whatever reason: a turn that is not given back lets nobody write any more
            end(None, connection)
            raise
        finally:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")

    def end(_dbapi_connection: object, record: Connection | ConnectionPoolEntry) -> None:
        if record.info.pop(_TURN, False):
            turn.release()

    event.listen(engine, "begin", begin)
    event.listen(engine, "checkin", end)


@lru_cache(maxsize=4)
def engine_for(url: str) -> Engine:
    """The one engine of this process for that URL."""
    return make_engine(url)


def current_engine() -> Engine:
    """The engine of the workspace that the environment names."""
    return engine_for(current_workspace().database_url)
