"""Only `migrate` and the start of the app upgrade tables, and only after a backup."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cli import main
from domain.errors import DomainError, Refused
from storage.backup import back_up_before_migration
from storage.engine import get_engine
from storage.schema import downgrade, is_current, list_revisions, prepare_workspace, read_revision
from storage.workspace import current_workspace
from tests.storage.sign_ins import NOON, add_person

pytestmark = pytest.mark.database

OLD = "0011"


@pytest.fixture
def old_tables(engine, tmp_path, monkeypatch, cheap_passwords):
    """A workspace with one person and with tables of an older version, on either database."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("OVERREAD_HOME", str(home))
    monkeypatch.setenv("OVERREAD_DATABASE_URL", engine.url.render_as_string(hide_password=False))
    add_person(engine, "anna")
    downgrade(engine, OLD)
    yield engine
    get_engine(current_workspace().database_url).dispose()
    get_engine.cache_clear()


def migrate() -> None:
    prepare_workspace(before_migration=lambda revision: back_up_before_migration(revision, now=NOON))


def list_backups() -> list[Path]:
    return sorted((current_workspace().home / "backups").glob("*"))


@pytest.mark.parametrize(
    "command", ["user list", "batch list", "audit verify", "job list", "user sign-out anna", "workspace"]
)
def test_a_command_does_not_change_older_tables_and_says_what_to_do(old_tables, command, capsys):
    assert main(command.split()) == 1
    assert f"an older version of Overread ({OLD}; this version needs" in (output := capsys.readouterr().err)
    assert "`cli.py migrate`" in output
    assert read_revision(old_tables) == OLD
    assert list_backups() == []


@pytest.mark.slow
def test_migrate_writes_a_backup_that_can_be_restored_and_upgraded(old_tables, capsys):
    assert main(["migrate"]) == 0
    [backup] = list_backups()
    assert str(backup) in capsys.readouterr().out
    assert backup.stat().st_mode & 0o077 == 0
    assert is_current(old_tables)
    assert main(["restore", "--check", str(backup)]) == 0
    assert main(["user", "list"]) == 0
    assert "anna" in capsys.readouterr().out


def test_migrate_on_tables_of_this_version_changes_nothing(old_tables, capsys):
    migrate()
    assert main(["migrate"]) == 0
    assert len(list_backups()) == 1
    assert capsys.readouterr().out == "The tables are up to date.\n"


@pytest.mark.full
def test_at_most_three_backups_before_migrations_are_kept(old_tables):
    for _ in range(5):
        migrate()
        old_tables.dispose()
        downgrade(old_tables, OLD)
        for number, backup in enumerate(list_backups()):  # the next one in the same second has the same name
            backup.rename(backup.with_name(f"before-migration-{number}.backup"))
    assert len(list_backups()) == 3


def test_tables_are_not_migrated_if_the_backup_cannot_be_written(old_tables):
    (current_workspace().home / "backups").write_text("a file where the folder should be")
    with pytest.raises((DomainError, OSError)):
        migrate()
    assert read_revision(old_tables) == OLD


@pytest.mark.parametrize("command", ["migrate", "user list"])
def test_tables_of_a_newer_version_are_refused_with_their_schema_version(
    sqlite_engine, command, monkeypatch, capsys
):
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    with sqlite_engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    assert main(command.split()) == 1
    assert "made by a newer version of Overread (its schema is 9999" in capsys.readouterr().err


def test_health_on_newer_tables_advises_no_migration(sqlite_engine, monkeypatch, capsys):
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    with sqlite_engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    assert main(["health"]) == 1
    output = capsys.readouterr().out
    assert "newer version" in output
    assert "migrate" not in output


def test_any_command_creates_the_tables_of_a_new_database(tmp_path, monkeypatch):
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "new"))
    assert main(["user", "list"]) == 0
    with closing(sqlite3.connect(tmp_path / "new" / "overread.sqlite")) as connection:
        [(revision,)] = connection.execute("SELECT version_num FROM alembic_version")
    assert revision == list_revisions()[-1]
    assert list_backups() == []


def test_older_tables_are_refused_if_no_backup_function_is_given(old_tables):
    with pytest.raises(Refused, match="older version"):
        prepare_workspace()
    assert read_revision(old_tables) == OLD
