"""Sessions: one transaction per user action, and read-only sessions that block no writer."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session

from domain.errors import AlreadyThere, DomainError, NotNow
from storage.database_errors import (
    DATABASE_ERRORS,
    DatabaseDamaged,
    find_cause,
    is_damaged,
    is_disk_full,
    to_domain_error,
)
from storage.engine import current_engine

_LOG = logging.getLogger(__name__)
#: The errors of a database that is temporarily unavailable, including an exhausted connection pool.
_UNAVAILABLE_ERRORS = (OperationalError, InterfaceError, PoolTimeout)
_LOCKED = "Not saved: the database was locked for too long, perhaps by a large import. Try again in a moment."
_FULL = (
    "Not saved: the disk of the workspace is full. Free up space or inform the server's administrator, then "
    "try again."
)
#: Messages to the user, by a fragment of the database's error. The transaction has always been rolled back.
_MESSAGES = (
    ("database is locked", _LOCKED),
    ("lock timeout", _LOCKED),
)
_NOT_SAVED = (
    "Not saved: the database could not be reached or written. Try again. If the error persists, inform the "
    "server's administrator; the server log gives the reason."
)
_NOT_READ = (
    "The database could not be read. Try again. If the error persists, inform the server's administrator; "
    "the server log gives the reason."
)


@contextmanager
def unit_of_work(engine: Engine | None = None, *, lock_timeout_ms: int | None = None) -> Iterator[Session]:
    """Open a session that is committed when the block ends and rolled back on an error.

    ``lock_timeout_ms`` is the time that the session waits for other writers; None means the engine's default.

    Raises:
        AlreadyThere: a constraint of the database was violated, and no service handled the error.
        NotNow: the database was locked for too long, is full, is damaged or cannot be reached; nothing was
            written.
    """
    bind = engine or current_engine()
    if lock_timeout_ms is not None:
        bind = bind.execution_options(overread_lock_timeout_ms=lock_timeout_ms)
    with Session(bind, expire_on_commit=False) as session:
        try:
            if lock_timeout_ms is not None and bind.dialect.name != "sqlite":
                session.execute(text(f"SET LOCAL lock_timeout = {int(lock_timeout_ms)}"))
            yield session
            session.commit()
        except IntegrityError as error:
            session.rollback()
            raise AlreadyThere(
                f"Not saved: a row already exists, or it refers to a row that is missing: {error.orig}"
            ) from error
        except SQLAlchemyError as error:
            session.rollback()
            if not _is_unavailable(error):
                raise
            _LOG.warning("a transaction failed and was rolled back: %s", find_cause(error))
            raise _to_domain_error(error) from error
        except BaseException:  # rolled back on any error, including an interrupted script
            session.rollback()
            raise


@contextmanager
def read_only_session(engine: Engine | None = None) -> Iterator[Session]:
    """Open a read-only session that sees one snapshot of the database and blocks no writer.

    Raises:
        NotNow: the database could not be read, or is damaged.
    """
    read_only_engine = (engine or current_engine()).execution_options(overread_read_only=True)
    with Session(read_only_engine, expire_on_commit=False) as session:
        try:
            yield session
        except SQLAlchemyError as error:
            if not _is_unavailable(error):
                raise
            _LOG.warning("the database could not be read: %s", find_cause(error))
            raise DatabaseDamaged(find_cause(error)) if is_damaged(error) else NotNow(_NOT_READ) from error


def _is_unavailable(error: SQLAlchemyError) -> bool:
    return isinstance(error, _UNAVAILABLE_ERRORS) or is_damaged(error)


def _to_domain_error(error: SQLAlchemyError) -> NotNow:
    cause = find_cause(error)
    if is_damaged(error):
        return DatabaseDamaged(cause)
    if is_disk_full(error):
        return NotNow(_FULL)
    return NotNow(next((text for fragment, text in _MESSAGES if fragment in cause), _NOT_SAVED))


@contextmanager
def explain_database_errors(problem: str) -> Iterator[None]:
    """Convert errors of the database, and errors from invalid values in rows, to a :class:`DomainError`.

    Args:
        problem: what could not be done, such as "The audit trail could not be verified".
    """
    try:
        yield
    except DomainError:
        raise
    except DATABASE_ERRORS as error:
        raise to_domain_error(error, problem=problem) from error
    except (ValueError, TypeError, LookupError) as error:  # for example an invalid time
        raise DatabaseDamaged("a column holds a value of another type") from error
