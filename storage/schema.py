"""Migration of a database to the tables of this version, with Alembic.

Importing Alembic takes a quarter of a second, so it is imported only where a migration runs. Whether a
migration is needed is determined without Alembic: the database stores its revision in one row, and the name
of each migration file begins with its revision.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DatabaseError

from domain.errors import NotNow, Refused
from domain.file_errors import describe_file_error
from storage.database_errors import DatabaseDamaged, find_cause, is_damaged
from storage.engine import current_engine
from storage.schema_check import check_schema
from storage.workspace import current_workspace, restrict_permissions

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
    """Upgrade the database to that revision, if its revision is older.

    With an engine the upgrade is a transaction of its own, and concurrent upgrades wait for it. With a
    connection it is part of the caller's transaction.

    Raises:
        Refused: the database is at a revision that this version does not know.
    """
    from alembic import command  # noqa: PLC0415 - see above
    from alembic.util import CommandError  # noqa: PLC0415 - see above

    try:
        command.upgrade(alembic_config(target), revision)
    except CommandError as error:
        raise Refused(describe_other_revision(read_revision(target))) from error


def downgrade(target: Engine | Connection, revision: str) -> None:
    """Downgrade the database to that revision ("base" is an empty database)."""
    from alembic import command  # noqa: PLC0415 - see above

    command.downgrade(alembic_config(target), revision)


def prepare_workspace(
    *, before_migration: Callable[[str], object] | None = None, checks_tables: bool = True
) -> None:
    """Create the workspace's folder, and its tables if there are none. Check that the tables are as expected.

    This runs at every start of the app and before each command. The folder is always needed, even if
    database and images are elsewhere, because it contains the releases, refusal lists and cache.

    Args:
        before_migration: a function that makes a backup before tables of an older version are upgraded; its
            argument is their revision. With None, older tables are refused. Only the start of the app and
            ``cli.py migrate`` pass a function.
        checks_tables: False for the verification of the audit trail, which reports altered tables itself.

    Raises:
        NotNow: the folder cannot be created; the database is damaged, cannot be reached, or was locked for
            too long.
        Refused: the tables are of an older version and may not be upgraded, or of a newer version, or they
            do not match their revision.
    """
    home = current_workspace().home
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        restrict_permissions(home)
    except OSError as error:
        raise NotNow(
            f"The workspace folder {home} could not be created. {describe_file_error(error)} Check that "
            "OVERREAD_HOME is right, and that its parent folder can be written."
        ) from error
    try:
        engine = current_engine()
        _migrate(engine, before_migration)
        if checks_tables:
            check_schema(engine)
    except DatabaseError as error:
        if is_damaged(error):
            raise DatabaseDamaged(find_cause(error)) from error
        raise NotNow(
            f"The database could not be opened or prepared: {find_cause(error)}. Check that it runs, that "
            "OVERREAD_DATABASE_URL and OVERREAD_HOME are right, and that the workspace can be written."
        ) from error


def _migrate(engine: Engine, before_migration: Callable[[str], object] | None) -> None:
    revision = read_revision(engine)
    if revision == list_revisions()[-1]:
        return
    if revision is not None:  # not a new database
        if before_migration is None or revision not in list_revisions():
            raise Refused(describe_other_revision(revision))
        before_migration(revision)
    upgrade(engine)


def describe_other_revision(revision: str | None) -> str:
    """Return a message about tables that are older or newer than this version, with the remedy."""
    if revision is None or revision in list_revisions():
        return (
            f"The tables are of an older version of Overread ({revision or 'none'}; this version needs "
            f"{list_revisions()[-1]}). Stop the app and run `cli.py migrate`: it writes a backup and then "
            "upgrades them. The start of the app does the same."
        )
    return (
        f"The workspace was made by a newer version of Overread (its schema is {revision}; this version has "
        f"{list_revisions()[-1]}). Use that version, or restore a backup that was made before the upgrade."
    )


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
