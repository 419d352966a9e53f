"""One user action, one transaction; and reading without holding up writers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import AlreadyThere
from storage.engine import current_engine


@contextmanager
def unit_of_work(engine: Engine | None = None) -> Iterator[Session]:
    """A session whose work is committed when the block is left, and undone when it is left by an error.

    Raises:
        AlreadyThere: a constraint of the database refused the work, and no service had foreseen it.
    """
    with Session(engine or current_engine(), expire_on_commit=False) as session:
        try:
            yield session
            session.commit()
        except IntegrityError as error:
            session.rollback()
            raise AlreadyThere(f"The database refused a double or a loose reference: {error.orig}") from error
        except BaseException:  # undone for every reason, an interrupted script's included
            session.rollback()
            raise


@contextmanager
def reading(engine: Engine | None = None) -> Iterator[Session]:
    """A session for reading only: it sees one state of the database and makes no writer wait."""
    read_only = (engine or current_engine()).execution_options(overread_read_only=True)
    with Session(read_only, expire_on_commit=False) as session:
        yield session
