"""One user action, one transaction; and reading without holding up writers."""

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
#: What a database does that can't be reached, or not now; a pool that stays empty is one of them.
_AWAY = (OperationalError, InterfaceError, PoolTimeout)
_LOCKED = (
    "Not saved: something else has been writing to the database for too long, a large import perhaps. "
    "Try again in a moment."
)
_FULL = (
    "Not saved: the disk of the workspace is full. Make room on it, or tell whoever runs this server; "
    "then try again."
)
#: What the database's own words mean for the person at the screen; all of it was undone.
_NOT_NOW = (
    ("database is locked", _LOCKED),
    ("lock timeout", _LOCKED),
    ("disk is full", _FULL),
    ("No space left on device", _FULL),
)
_OTHERWISE = (
    "Not saved: the database could not be reached or written. Try again, and if it stays so, tell whoever "
    "runs this server; its log says why."
)
_UNREAD = (
    "The database could not be read. Try again, and if it stays so, tell whoever runs this server; its log "
    "says why."
)


@contextmanager
def unit_of_work(engine: Engine | None = None, *, patience_ms: int | None = None) -> Iterator[Session]:
    """A session whose work is committed when the block is left, and undone when it is left by an error.

    ``patience_ms`` is how long it waits for other writers, the engine's own patience where it is None.

    Raises:
        AlreadyThere: a constraint of the database refused the work, and no service had foreseen it.
        NotNow: the database was locked for too long, is full or out of reach; nothing was written.
    """
    bind = engine or current_engine()
    if patience_ms is not None:
        bind = bind.execution_options(overread_patience_ms=patience_ms)
    with Session(bind, expire_on_commit=False) as session:
        try:
            if patience_ms is not None and bind.dialect.name != "sqlite":
                session.execute(text(f"SET LOCAL lock_timeout = {int(patience_ms)}"))
            yield session
            session.commit()
        except IntegrityError as error:
            session.rollback()
            raise AlreadyThere(f"The database refused a double or a loose reference: {error.orig}") from error
        except _AWAY as error:
            session.rollback()
            _LOG.warning("the database did not do it: %s", _cause(error))
            raise NotNow(_not_now(error)) from error
        except BaseException:  # undone for every reason, an interrupted script's included
            session.rollback()
            raise


@contextmanager
def reading(engine: Engine | None = None) -> Iterator[Session]:
    """A session for reading only: it sees one state of the database and makes no writer wait.

    Raises:
        NotNow: the database could not be read.
    """
    read_only = (engine or current_engine()).execution_options(overread_read_only=True)
    with Session(read_only, expire_on_commit=False) as session:
        try:
            yield session
        except _AWAY as error:
            _LOG.warning("the database could not be read: %s", _cause(error))
            raise NotNow(_UNREAD) from error


def _not_now(error: SQLAlchemyError) -> str:
    said = _cause(error)
    return next((text for words, text in _NOT_NOW if words in said), _OTHERWISE)


def _cause(error: SQLAlchemyError) -> str:
    """What the driver said; the statement and its values, which may be a patient's, stay out of the log."""
    return str(error.orig) if isinstance(error, DBAPIError) else type(error).__name__
