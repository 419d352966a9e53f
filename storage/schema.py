"""Migration of a database to the tables of this version, with Alembic.

Importing Alembic takes a quarter of a second, so it is imported only where a migration runs. Whether one is
needed is determined without it: a database stores its revision in one row, and each migration's file begins
with its revision.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import OperationalError

from domain.errors import NotNow, Refused
from domain.file_errors import describe_file_error
from storage.engine import current_engine
from storage.schema_check import check_schema
from storage.workspace import close_to_others, current_workspace

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"


def alembic_config(target: Engine | Connection) -> Config:
    """Return Alembic's configuration for this package's migrations on that engine or open transaction."""
    from alembic.config import Config  # noqa: PLC0415 - see above

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["engine" if isinstance(target, Engine) else "connection"] = target
    return config


def upgrade(target: Engine | Connection, revision: str = "head") -> None:
    """Upgrade the database to that revision, if it is at an older one.

    On an engine the upgrade is a transaction of its own, and concurrent upgrades wait for it. On a connection
    it is part of the caller's transaction.

    Raises:
        Refused: the database is at a revision that this version does not know.
    """
    from alembic import command  # noqa: PLC0415 - see above
    from alembic.util import CommandError  # noqa: PLC0415 - see above

    try:
        command.upgrade(alembic_config(target), revision)
    except CommandError as error:
        raise Refused(
            "The workspace was made by a newer version of Overread. Use that one, or restore a backup that "
            "was made before it came."
        ) from error


def downgrade(target: Engine | Connection, revision: str) -> None:
    """Downgrade the database to that revision ("base" is an empty database)."""
    from alembic import command  # noqa: PLC0415 - see above

    command.downgrade(alembic_config(target), revision)


def prepare_workspace() -> None:
    """Create the workspace's folder and upgrade its database to this version. This runs at every start.

    The folder is always needed, even if database and images are elsewhere, because it has the releases,
    refusal lists and cache.

    Raises:
        NotNow: the folder cannot be created; the database cannot be reached, or was locked for too long.
        Refused: a newer version of Overread has upgraded the database, or its tables do not match its
            revision.
    """
    home = current_workspace().home
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        close_to_others(home)
    except OSError as error:
        raise NotNow(
            f"The workspace folder {home} could not be created. {describe_file_error(error)} See that"
            " OVERREAD_HOME is right, and that its parent folder can be written."
        ) from error
    try:
        engine = current_engine()
        if not is_current(engine):
            upgrade(engine)
        check_schema(engine)
    except OperationalError as error:
        reason = str(error.orig).splitlines()[0]
        raise NotNow(
            f"The database could not be opened or prepared: {reason}. See that it runs, that "
            "OVERREAD_DATABASE_URL and OVERREAD_HOME are right, and that the workspace can be written."
        ) from error


def read_revision(target: Engine | Connection) -> str | None:
    """Return the revision of the database's tables; None if there are none yet."""
    if isinstance(target, Engine):
        with target.execution_options(overread_read_only=True).connect() as connection:
            return read_revision(connection)
    if not inspect(target).has_table("alembic_version"):
        return None
    revision: str | None = target.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def is_current(engine: Engine) -> bool:
    """Return whether the database is at the newest revision of this version."""
    return read_revision(engine) == list_revisions()[-1]


def list_revisions() -> list[str]:
    """Return all revisions that this version knows, the oldest first."""
    return sorted(path.name.partition("_")[0] for path in _MIGRATIONS.glob("versions/[0-9]*.py"))
