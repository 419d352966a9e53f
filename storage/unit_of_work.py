"""Sessions: one transaction per user action, and read-only sessions that block no writer."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session

from domain.errors import AlreadyThere, NotNow
from storage.engine import current_engine

_LOG = logging.getLogger(__name__)
#: The errors of a database that is temporarily unavailable, including an exhausted connection pool.
_UNAVAILABLE_ERRORS = (OperationalError, InterfaceError, PoolTimeout)
_LOCKED = (
    "Not saved: something else has been writing to the database for too long, a large import perhaps. "
    "Try again in a moment."
)
_FULL = (
    "Not saved: the disk of the workspace is full. Make room on it, or tell whoever runs this server; "
    "then try again."
)
#: Messages to the user by text in the database's error. In every case the transaction was rolled back.
_MESSAGES = (
    ("database is locked", _LOCKED),
    ("lock timeout", _LOCKED),
    ("disk is full", _FULL),
    ("No space left on device", _FULL),
)
_NOT_SAVED = (
    "Not saved: the database could not be reached or written. Try again, and if it stays so, tell whoever "
    "runs this server; its log says why."
)
_NOT_READ = (
    "The database could not be read. Try again, and if it stays so, tell whoever runs this server; its log "
    "says why."
)


@contextmanager
def unit_of_work(engine: Engine | None = None, *, lock_timeout_ms: int | None = None) -> Iterator[Session]:
    """Open a session that is committed when the block ends and rolled back on an error.

    ``lock_timeout_ms`` is how long it waits for other writers; None means the engine's default.

    Raises:
        AlreadyThere: a constraint of the database was violated, and no service handled it before.
        NotNow: the database was locked for too long, is full or cannot be reached; nothing was written.
    """
    bind = engine or current_engine()
    if lock_timeout_ms is not None:
        bind = bind.execution_options(overread_patience_ms=lock_timeout_ms)
    with Session(bind, expire_on_commit=False) as session:
        try:
            if lock_timeout_ms is not None and bind.dialect.name != "sqlite":
                session.execute(text(f"SET LOCAL lock_timeout = {int(lock_timeout_ms)}"))
            yield session
            session.commit()
        except IntegrityError as error:
            session.rollback()
            raise AlreadyThere(f"The database refused a double or a loose reference: {error.orig}") from error
        except _UNAVAILABLE_ERRORS as error:
            session.rollback()
            _LOG.warning("the database did not do it: %s", _cause(error))
            raise NotNow(_message_for(error)) from error
        except BaseException:  # rolled back on any error, including an interrupted script
            session.rollback()
            raise


@contextmanager
def read_only_session(engine: Engine | None = None) -> Iterator[Session]:
    """Open a read-only session that sees one snapshot of the database and blocks no writer.

    Raises:
        NotNow: the database could not be read.
    """
    read_only = (engine or current_engine()).execution_options(overread_read_only=True)
    with Session(read_only, expire_on_commit=False) as session:
        try:
            yield session
        except _UNAVAILABLE_ERRORS as error:
            _LOG.warning("the database could not be read: %s", _cause(error))
            raise NotNow(_NOT_READ) from error


def _message_for(error: SQLAlchemyError) -> str:
    cause = _cause(error)
    return next((text for fragment, text in _MESSAGES if fragment in cause), _NOT_SAVED)


def _cause(error: SQLAlchemyError) -> str:
    """Return the driver's message without the statement and its values, which may be patient data."""
    return str(error.orig) if isinstance(error, DBAPIError) else type(error).__name__
