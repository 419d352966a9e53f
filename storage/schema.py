"""Bringing a database to the tables of this version, by Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from domain.errors import NotNow, Refused
from storage.engine import current_engine


def alembic_config(on: Engine | Connection) -> Config:
    """Alembic's configuration, in code: the migrations of this package on that engine or open transaction."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["engine" if isinstance(on, Engine) else "connection"] = on
    return config


def upgrade(on: Engine | Connection, revision: str = "head") -> None:
    """Bring the database up to that revision; nothing happens when it is there already.

    On an engine it is one transaction of its own, which others that do the same wait for; on a connection it
    is part of the caller's.
    """
    command.upgrade(alembic_config(on), revision)


def downgrade(on: Engine | Connection, revision: str) -> None:
    """Bring the database down to that revision ("base" is an empty database)."""
    command.downgrade(alembic_config(on), revision)


def prepare_workspace() -> None:
    """Bring the database that the environment names to the tables of this version: at every start.

    Raises:
        NotNow: the database is out of reach, or somebody else has held it for too long.
        Refused: a newer version of Overread has been at work in it.
    """
    try:
        engine = current_engine()
        if not is_current(engine):
            upgrade(engine)
    except OperationalError as error:
        why = str(error.orig).splitlines()[0]
        raise NotNow(
            f"The database could not be opened or prepared: {why}. See that it runs, that "
            "OVERREAD_DATABASE_URL and OVERREAD_HOME are right, and that the workspace can be written."
        ) from error
    except CommandError as error:
        raise Refused(
            "The workspace was made by a newer version of Overread. Use that one, or restore a backup that "
            "was made before it came."
        ) from error


def revision_of(on: Engine | Connection) -> str | None:
    """The revision of the database's tables; None where there are none yet."""
    if isinstance(on, Connection):
        return MigrationContext.configure(on).get_current_revision()
    with on.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def is_current(engine: Engine) -> bool:
    """Whether the database has the tables of this version."""
    return revision_of(engine) == ScriptDirectory.from_config(alembic_config(engine)).get_current_head()


def revisions() -> list[str]:
    """All revisions that this version knows, the first one first."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return [each.revision for each in ScriptDirectory.from_config(config).walk_revisions()][::-1]
