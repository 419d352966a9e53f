"""Bringing a database to the tables of this version, by Alembic.

Alembic takes a quarter of a second to import, so it is imported where a migration runs. Whether one is needed
is known without it: a database has its revision in one row, and each migration's file begins with its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import OperationalError

from domain.errors import NotNow, Refused
from domain.file_errors import file_trouble
from storage.engine import current_engine
from storage.schema_check import check_schema
from storage.workspace import current_workspace

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"


def alembic_config(on: Engine | Connection) -> Config:
    """Alembic's configuration, in code: the migrations of this package on that engine or open transaction."""
    from alembic.config import Config  # noqa: PLC0415 - see above

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["engine" if isinstance(on, Engine) else "connection"] = on
    return config


def upgrade(on: Engine | Connection, revision: str = "head") -> None:
    """Bring the database up to that revision; nothing happens when it is there already.

    On an engine it is one transaction of its own, which others that do the same wait for; on a connection it
    is part of the caller's.

    Raises:
        Refused: the database is at a revision that this version does not know.
    """
    from alembic import command  # noqa: PLC0415 - see above
    from alembic.util import CommandError  # noqa: PLC0415 - see above

    try:
        command.upgrade(alembic_config(on), revision)
    except CommandError as error:
        raise Refused(
            "The workspace was made by a newer version of Overread. Use that one, or restore a backup that "
            "was made before it came."
        ) from error


def downgrade(on: Engine | Connection, revision: str) -> None:
    """Bring the database down to that revision ("base" is an empty database)."""
    from alembic import command  # noqa: PLC0415 - see above

    command.downgrade(alembic_config(on), revision)


def prepare_workspace() -> None:
    """Create the workspace's folder and bring its database to the tables of this version: at every start.

    The folder is needed wherever database and images are: releases, refusal lists and the cache lie in it.

    Raises:
        NotNow: the folder can't be created; the database is out of reach, or somebody else has held it for
            too long.
        Refused: a newer version of Overread has been at work in it, or its tables are not those that its
            revision promises.
    """
    home = current_workspace().home
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotNow(
            f"The workspace folder {home} could not be created. {file_trouble(error)} See that OVERREAD_HOME "
            "is right, and that its parent folder can be written."
        ) from error
    try:
        engine = current_engine()
        if not is_current(engine):
            upgrade(engine)
        check_schema(engine)
    except OperationalError as error:
        why = str(error.orig).splitlines()[0]
        raise NotNow(
            f"The database could not be opened or prepared: {why}. See that it runs, that "
            "OVERREAD_DATABASE_URL and OVERREAD_HOME are right, and that the workspace can be written."
        ) from error


def revision_of(on: Engine | Connection) -> str | None:
    """The revision of the database's tables; None where there are none yet."""
    if isinstance(on, Engine):
        with on.execution_options(overread_read_only=True).connect() as connection:
            return revision_of(connection)
    if not inspect(on).has_table("alembic_version"):
        return None
    revision: str | None = on.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def is_current(engine: Engine) -> bool:
    """Whether the database has the tables of this version."""
    return revision_of(engine) == revisions()[-1]


def revisions() -> list[str]:
    """All revisions that this version knows, the first one first."""
    return sorted(path.name.partition("_")[0] for path in _MIGRATIONS.glob("versions/[0-9]*.py"))
