"""Bringing a database to the tables of this version, by Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from storage.engine import current_engine


def alembic_config(engine: Engine) -> Config:
    """Alembic's configuration, in code: the migrations of this package on that engine."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["engine"] = engine
    return config


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Bring the database up to that revision; nothing happens when it is there already."""
    command.upgrade(alembic_config(engine), revision)


def downgrade(engine: Engine, revision: str) -> None:
    """Bring the database down to that revision ("base" is an empty database)."""
    command.downgrade(alembic_config(engine), revision)


def prepare_workspace() -> None:
    """Bring the database that the environment names to the tables of this version: at every start."""
    engine = current_engine()
    if not is_current(engine):
        upgrade(engine)


def is_current(engine: Engine) -> bool:
    """Whether the database has the tables of this version."""
    head = ScriptDirectory.from_config(alembic_config(engine)).get_current_head()
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision() == head
