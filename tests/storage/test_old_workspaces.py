"""Workspaces made by older commits can be opened, repaired, backed up and restored."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Engine

from accounts import service as accounts
from cli import main
from domain.errors import NotNow
from domain.second_opinions import SecondOpinionScope
from review import service as review
from storage.backup import check_backup, make_backup, restore_backup
from storage.engine import get_engine
from storage.schema import downgrade, upgrade
from storage.unit_of_work import unit_of_work
from storage.workspace import Workspace
from tests.storage.backup_worlds import LATER, make_workspace
from tests.storage.old_workspaces import list_names, unpack
from tests.storage.test_schema_check import execute, list_differences
from tests.storage.worlds import NOW, make_world

pytestmark = pytest.mark.full

#: Commits at which the migration 0007 did not yet create the table second_opinions.
WITHOUT_SECOND_OPINIONS = ("966ec8d", "1d45ff8")
#: The migration 0007 of those commits, as run on PostgreSQL.
OLD_0007 = """
CREATE TABLE adjudication (
    batch_id INTEGER NOT NULL REFERENCES batch (id),
    question_id BIGINT NOT NULL REFERENCES question (id),
    revision INTEGER NOT NULL,
    person_id INTEGER NOT NULL REFERENCES person (id),
    decision VARCHAR NOT NULL,
    correction VARCHAR NOT NULL,
    follows VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    given_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (batch_id, question_id, revision)
);
CREATE INDEX adjudication_question ON adjudication (question_id);
CREATE TABLE adjudication_rules (
    batch_id INTEGER NOT NULL REFERENCES batch (id),
    hide_names BOOLEAN NOT NULL,
    same_box FLOAT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (batch_id)
);
CREATE TABLE adjudicator (
    batch_id INTEGER NOT NULL REFERENCES batch (id),
    person_id INTEGER NOT NULL REFERENCES person (id),
    named_at TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (batch_id, person_id)
);
CREATE TRIGGER adjudication_no_update BEFORE UPDATE ON adjudication
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER adjudication_no_delete BEFORE DELETE ON adjudication
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER adjudication_no_truncate BEFORE TRUNCATE ON adjudication
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
UPDATE alembic_version SET version_num = '0007';
"""


def unpack_old_workspace(name: str, home: Path) -> Workspace:
    home.mkdir(exist_ok=True)
    unpack(name, home / "overread.sqlite")
    return Workspace(home=home, database_url=f"sqlite:///{home / 'overread.sqlite'}")


@pytest.fixture
def command(monkeypatch, capsys):
    """Run a command on a workspace, check that it exits with 0, and return its output."""
    used: set[str] = set()

    def run(workspace: Workspace, *arguments: str) -> str:
        monkeypatch.setenv("OVERREAD_HOME", str(workspace.home))
        monkeypatch.setenv("OVERREAD_DATABASE_URL", workspace.database_url)
        used.add(workspace.database_url)
        exit_code = main(list(arguments))
        printed = capsys.readouterr()
        assert exit_code == 0, printed.err
        return printed.out

    yield run
    for url in used:
        get_engine(url).dispose()
    get_engine.cache_clear()


@pytest.mark.parametrize("name", list_names())
def test_an_old_workspace_can_be_opened_repaired_backed_up_and_restored(name, command, tmp_path):
    old = unpack_old_workspace(name, tmp_path / "old")
    command(old, "migrate")
    assert list_differences(get_engine(old.database_url)) == []
    assigned = command(old, "assign", "Round 1", "--second-share", "0.2", "--to", "rosa", "ravi", "renate")
    assert "ravi got 9 questions of Round 1." in assigned
    back_up_and_restore(old, make_empty_workspace(tmp_path), command)


@pytest.mark.parametrize("name", [list_names()[0], list_names()[-1]])
def test_an_old_workspace_can_be_restored_to_postgresql(name, postgres_engine, command, tmp_path):
    old = unpack_old_workspace(name, tmp_path / "old")
    command(old, "migrate")
    back_up_and_restore(old, make_workspace(postgres_engine, tmp_path / "there"), command)


def make_empty_workspace(folder: Path) -> Workspace:
    """An empty destination for a restore."""
    return Workspace(home=folder / "there", database_url=f"sqlite:///{folder / 'there.sqlite'}")


def back_up_and_restore(old: Workspace, restored: Workspace, command) -> None:
    """Check that the restored workspace has the schema and the same rows, except what a restore adds."""
    backup = make_backup(old, old.home / "old.backup", with_images=False, now=NOW)
    assert check_backup(backup.path).rows == backup.manifest.rows
    restore_backup(backup.path, restored, replace=True, now=LATER)
    assert list_differences(get_engine(restored.database_url)) == []
    new_backup = make_backup(restored, old.home / "new.backup", with_images=False, now=LATER)
    assert new_backup.manifest.tables == backup.manifest.tables
    command(restored, "audit", "verify")


@pytest.mark.parametrize("name", WITHOUT_SECOND_OPINIONS)
def test_a_backup_of_an_old_workspace_that_was_never_repaired_can_be_restored(name, command, tmp_path):
    """The backup lacks a table of its revision; the restored workspace has it, empty."""
    old = unpack_old_workspace(name, tmp_path / "old")
    backup = make_backup(old, tmp_path / "old.backup", with_images=False, now=NOW)
    check_backup(backup.path)
    restored = make_empty_workspace(tmp_path)
    restore_backup(backup.path, restored, now=LATER)
    assert list_differences(get_engine(restored.database_url)) == []
    command(restored, "audit", "verify")


@pytest.mark.parametrize("name", list_names())
def test_only_workspaces_made_before_0007_was_changed_lack_its_new_table(name, tmp_path):
    workspace = unpack_old_workspace(name, tmp_path / "old")
    connection = sqlite3.connect(workspace.home / "overread.sqlite")
    query = "SELECT count(*) FROM sqlite_schema WHERE name = 'second_opinions'"
    [table_count] = connection.execute(query).fetchone()
    connection.close()
    assert table_count == (name not in WITHOUT_SECOND_OPINIONS)


@pytest.mark.parametrize("name", WITHOUT_SECOND_OPINIONS)
def test_second_opinions_fail_before_the_repair_and_work_after(name, tmp_path, command):
    """Upgrade such a workspace to 0009, the last migration of a former version, then to the newest."""
    engine = get_engine(unpack_old_workspace(name, tmp_path / "old").database_url)
    upgrade(engine, "0009")
    with pytest.raises(NotNow):
        request_second_opinions(engine, batch="Round 1", to=["rosa", "ravi", "renate"])
    upgrade(engine)
    assert request_second_opinions(engine, batch="Round 1", to=["rosa", "ravi", "renate"]) == 26


@pytest.mark.postgresql
def test_a_server_that_ran_the_old_0007_is_repaired(postgres_engine, command, tmp_path):
    downgrade(postgres_engine, "0006")
    execute(postgres_engine, OLD_0007)
    command(make_workspace(postgres_engine, tmp_path), "migrate")
    assert list_differences(postgres_engine) == []
    make_world(postgres_engine, assigned_to=["ruth"])
    assert request_second_opinions(postgres_engine, batch="first", to=["remo"]) > 0


def request_second_opinions(engine: Engine, *, batch: str, to: list[str]) -> int:
    """Request second opinions on a fifth of the batch; return how many questions were assigned."""
    with unit_of_work(engine) as db:
        summary = review.request_second_opinions(
            db, by=accounts.command_line_person(), batch=batch, to=to,
            scope=SecondOpinionScope.RANDOM_SHARE, share=0.2,
            seed=None, now=NOW,
        )  # fmt: skip
    return summary.random_count
