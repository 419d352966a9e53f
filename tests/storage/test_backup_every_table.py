"""A workspace with rows in every table, in realistic states, is restored within and across both databases."""

from __future__ import annotations

import resource
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Connection, Engine, make_url, text
from sqlalchemy.exc import DBAPIError

from accounts.service.audit_trail import verify_audit
from cli import main
from domain.errors import Refused
from domain.jobs import JobStatus
from jobs.service import list_jobs
from storage.backup import Manifest, check_backup, make_backup, restore_backup
from storage.backup.tables import inspect_tables, iterate_lines
from storage.engine import make_engine
from storage.schema import downgrade, is_current
from storage.schema_check import check_schema
from storage.unit_of_work import read_only_session
from storage.workspace import Workspace
from tests.storage.backup_worlds import BY, LATER, fill_workspace, make_workspace
from tests.storage.full_world import count_all_rows, fill_every_table
from tests.storage.study_worlds import answer_case, make_study_world
from tests.storage.test_backup_altered import read_members, write_sealed
from tests.storage.worlds import NOW

pytestmark = pytest.mark.full

#: The table with the seconds that people looked at images.
VIEWING_TABLE = "look"
#: Columns that a restore changes on purpose: it ends sign-ins, moves releases and stops jobs.
CHANGED_COLUMNS = {
    "sign_in": {"revoked_at"},
    "release": {"folder"},
    "job": {"status", "message", "finished_at"},
}
#: Statements that triggers must refuse, before a restore and after it.
FORBIDDEN_STATEMENTS = {
    "append-only": ("UPDATE verdict SET comment = 'x'", "DELETE FROM audit_entry", "DELETE FROM prediction"),
    "the reader study is frozen": ("DELETE FROM study_slot", "UPDATE reader_study SET design = '{}'"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FullWorkspace:
    """The workspace with rows in every table, and a backup of it."""

    engine: Engine
    workspace: Workspace
    backup: Path
    manifest: Manifest


@contextmanager
def full_workspace(engine: Engine, folder: Path) -> Iterator[FullWorkspace]:
    workspace = fill_every_table(engine, folder / "home")
    result = make_backup(workspace, folder / "full.backup", now=NOW)
    yield FullWorkspace(engine=engine, workspace=workspace, backup=result.path, manifest=result.manifest)
    engine.dispose()


@pytest.fixture(scope="module")
def full_sqlite(sqlite_template, tmp_path_factory) -> Iterator[FullWorkspace]:
    folder = tmp_path_factory.mktemp("full-sqlite")
    shutil.copyfile(sqlite_template, folder / "overread.sqlite")
    with full_workspace(make_engine(f"sqlite:///{folder / 'overread.sqlite'}"), folder) as full:
        yield full


@pytest.fixture(scope="module")
def full_postgres(
    postgres_server: str, postgres_template: str, administration: Connection, tmp_path_factory
) -> Iterator[FullWorkspace]:
    name = f"{postgres_template}_full"
    administration.execute(
        text(f'CREATE DATABASE "{name}" TEMPLATE "{postgres_template}" STRATEGY FILE_COPY')
    )
    url = make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
    with full_workspace(make_engine(url), tmp_path_factory.mktemp("full-postgres")) as full:
        yield full
    administration.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))


@pytest.fixture(params=["sqlite", "postgres"])
def source(request) -> FullWorkspace:
    return request.getfixturevalue(f"full_{request.param}")


@pytest.fixture
def empty_workspace(tmp_path) -> Workspace:
    """An empty workspace on SQLite."""
    home = tmp_path / "elsewhere"
    return Workspace(home=home, database_url=f"sqlite:///{home / 'overread.sqlite'}")


@pytest.fixture
def temporary_folder(tmp_path, monkeypatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def read_unchanged_columns(engine: Engine) -> dict[str, list[list[object]]]:
    """The rows of the tables that a restore changes, without the columns that it changes."""
    rows_by_table = {}
    with engine.connect() as connection:
        for shape in inspect_tables(connection):
            if shape.name in CHANGED_COLUMNS:
                positions = [
                    position
                    for position, name in enumerate(shape.columns)
                    if name not in CHANGED_COLUMNS[shape.name]
                ]
                rows = [msgspec.json.decode(line) for line in iterate_lines(connection, shape)]
                rows_by_table[shape.name] = [[row[position] for position in positions] for row in rows]
    return rows_by_table


def list_digests(manifest: Manifest) -> dict[str, tuple[int, str]]:
    return {
        table.name: (table.rows, table.sha256)
        for table in manifest.tables
        if table.name not in CHANGED_COLUMNS
    }


def write_altered_backup(backup: Path, out: Path, **changes: object) -> Path:
    """Write the backup with a changed manifest. Tables without rows in that manifest lose their members."""
    *members, (name, content) = read_members(backup.read_bytes())
    manifest = msgspec.json.decode(content) | changes
    empty_tables = {table["name"] for table in manifest["tables"] if not table["rows"]}
    members = [
        member
        for member in members
        if not member[0].startswith(tuple(f"tables/{table}/" for table in empty_tables))
    ]
    manifest = msgspec.json.format(msgspec.json.encode(manifest))
    out.write_bytes(write_sealed([*members, (name, manifest)], out.parent))
    (out.parent / "crafted").unlink()
    return out


def write_backup_without_people(backup: Path, out: Path) -> Path:
    """Write an undamaged backup whose table of people is empty, so that most foreign keys fail."""
    tables = msgspec.json.decode(read_members(backup.read_bytes())[-1][1])["tables"]
    for table in tables:
        if table["name"] == "person":
            table |= {"rows": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
    return write_altered_backup(backup, out, tables=tables)


def test_every_table_of_the_backed_up_workspace_has_rows(source):
    """A new table needs a row in tests/storage/full_world.py; otherwise no test shows that it is restored."""
    assert [name for name, count in count_all_rows(source.engine).items() if not count] == []


@pytest.mark.parametrize("target", ["sqlite_engine", "postgres_engine"])
def test_every_table_is_restored_with_equal_digests(source, target, request, tmp_path):
    engine = request.getfixturevalue(target)
    target_workspace = make_workspace(engine, tmp_path / "there")
    engine.dispose()
    restored = restore_backup(source.backup, target_workspace, now=LATER)
    assert restored.missing_images == ()
    second_backup = make_backup(target_workspace, tmp_path / "again.backup", now=LATER)
    assert list_digests(second_backup.manifest) == list_digests(source.manifest)
    assert read_unchanged_columns(engine) == read_unchanged_columns(source.engine)
    assert second_backup.manifest.files == source.manifest.files
    check_schema(engine)
    with read_only_session(engine) as db:
        assert verify_audit(db, by=BY).fault is None
        interrupted, finished = list_jobs(db, by=BY)
    assert (interrupted.status, interrupted.finished_at) == (JobStatus.INTERRUPTED, LATER)
    assert (finished.status, finished.message) == (JobStatus.DONE, "Counted: größer.")
    for refusal, statements in FORBIDDEN_STATEMENTS.items():
        for statement in statements:
            with pytest.raises(DBAPIError, match=refusal), engine.begin() as connection:
                connection.exec_driver_sql(statement)


def test_full_database_on_a_server_is_replaced(full_postgres, tmp_path, postgres_engine):
    """Hidden questions and frozen studies prevent a downgrade; a restore needs no downgrade."""
    target_workspace = make_workspace(postgres_engine, tmp_path / "there")
    restore_backup(full_postgres.backup, target_workspace, now=LATER)
    restore_backup(full_postgres.backup, target_workspace, replace=True, now=LATER)
    second_backup = make_backup(target_workspace, tmp_path / "again.backup", now=LATER)
    assert list_digests(second_backup.manifest) == list_digests(full_postgres.manifest)
    check_schema(postgres_engine)


def test_failed_restore_leaves_database_and_triggers_unchanged(source, tmp_path):
    before = count_all_rows(source.engine)
    broken_backup = write_backup_without_people(source.backup, tmp_path / "bad.backup")
    source.engine.dispose()
    with pytest.raises(Refused, match="could not be restored into the database"):
        restore_backup(broken_backup, source.workspace, replace=True, now=LATER)
    assert count_all_rows(source.engine) == before
    check_schema(source.engine)


def test_check_restores_into_a_temporary_database_and_removes_it(source, temporary_folder):
    stages = []
    manifest = check_backup(source.backup, progress=lambda stage, *_: stages.append(stage))
    assert manifest == source.manifest
    assert list(dict.fromkeys(stages)) == ["checking", "restoring", "comparing"]
    assert list(temporary_folder.iterdir()) == []


def test_check_refuses_an_undamaged_backup_that_cannot_be_restored(source, tmp_path, temporary_folder):
    broken_backup = write_backup_without_people(source.backup, tmp_path / "bad.backup")
    with pytest.raises(
        Refused, match=r"is undamaged but cannot be restored: table .* refers to a row that does not exist"
    ):
        check_backup(broken_backup)
    assert list(temporary_folder.iterdir()) == []


def test_check_names_tables_that_do_not_match_the_revision(source, tmp_path):
    tables = msgspec.json.decode(read_members(source.backup.read_bytes())[-1][1])["tables"]
    tables = [table for table in tables if table["name"] != VIEWING_TABLE]
    for table in tables:
        if table["name"] == "sign_in":
            del table["columns"]["browser"]
    *members, (name, content) = read_members(source.backup.read_bytes())
    members = [member for member in members if not member[0].startswith(f"tables/{VIEWING_TABLE}/")]
    manifest = msgspec.json.decode(content) | {"tables": tables}
    broken_backup = tmp_path / "bad.backup"
    broken_backup.write_bytes(
        write_sealed([*members, (name, msgspec.json.format(msgspec.json.encode(manifest)))], tmp_path)
    )
    with pytest.raises(Refused, match=f"do not match its revision: {VIEWING_TABLE}, sign_in"):
        check_backup(broken_backup)


def test_check_on_a_full_disk_names_the_folder_setting(full_sqlite, temporary_folder):
    """A limit on file size stands for a full disk: SQLite fails at the same write in both cases."""
    previous_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, previous_limit[1]))
    try:
        with pytest.raises(Refused, match=f"(?s)was not possible.*{temporary_folder} has .* Set TMPDIR"):
            check_backup(full_sqlite.backup)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, previous_limit)
    assert list(temporary_folder.iterdir()) == []


def test_empty_workspace_is_backed_up_checked_and_restored(engine, tmp_path, empty_workspace):
    result = make_backup(make_workspace(engine, tmp_path / "home"), tmp_path / "empty.backup", now=NOW)
    assert check_backup(result.path) == result.manifest
    restore_backup(result.path, empty_workspace, now=LATER)
    second_backup = make_backup(empty_workspace, tmp_path / "again.backup", now=LATER)
    assert list_digests(second_backup.manifest) == list_digests(result.manifest)


def test_commands_restore_a_study_with_readings(workspace_engine, tmp_path, monkeypatch, capsys):
    """The orders of a study are frozen once its first reading is saved; that must not prevent a restore."""
    study_world = make_study_world(workspace_engine)
    answer_case(study_world)
    workspace_engine.dispose()
    backup = tmp_path / "a.backup"
    assert main(["backup", str(backup)]) in (0, 1)  # 1: the world's images have no files
    assert main(["restore", "--check", str(backup)]) == 0
    output = capsys.readouterr().out
    assert "tables restored into a temporary database" in output
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "empty"))
    main(["restore", str(backup)])
    assert "have the rows and the hashes of the backup" in capsys.readouterr().out
    engine = make_engine(f"sqlite:///{tmp_path / 'empty' / 'overread.sqlite'}")
    assert count_all_rows(engine)["reading"] == 1
    check_schema(engine)
    engine.dispose()


def test_an_old_backup_without_a_table_that_its_migration_gained_later_is_restored(
    engine, tmp_path, empty_workspace
):
    """The table second_opinions was added to migration 0007 after workspaces had been migrated with it."""
    workspace = fill_workspace(engine, tmp_path / "home")
    downgrade(engine, "0009")
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE second_opinions")
    result = make_backup(workspace, tmp_path / "drifted.backup", now=NOW)
    assert check_backup(result.path).revision == "0009"
    restore_backup(result.path, empty_workspace, now=LATER)
    restored_engine = make_engine(empty_workspace.database_url)
    assert is_current(restored_engine)
    check_schema(restored_engine)
    restored_engine.dispose()


def test_server_database_with_drifted_tables_is_replaced(postgres_engine, tmp_path):
    workspace = fill_workspace(postgres_engine, tmp_path / "home")
    result = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    with postgres_engine.begin() as connection:
        for statement in (
            "DROP TABLE second_opinions",
            "DROP TRIGGER verdict_no_update ON verdict",
            "DROP FUNCTION refuse_slot_when_read() CASCADE",
        ):
            connection.exec_driver_sql(statement)
    restore_backup(result.path, workspace, replace=True, now=LATER)
    check_schema(postgres_engine)


def test_check_names_a_table_missing_from_a_backup(sqlite_engine, tmp_path):
    """The same holds at an older revision: only second_opinions may be missing there."""
    workspace = fill_workspace(sqlite_engine, tmp_path / "home")
    downgrade(sqlite_engine, "0009")
    with sqlite_engine.begin() as connection:
        connection.exec_driver_sql(f"DROP TABLE {VIEWING_TABLE}")
    result = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    with pytest.raises(Refused, match=f"do not match its revision: {VIEWING_TABLE}"):
        check_backup(result.path)


def test_database_of_a_newer_version_is_not_replaced(postgres_engine, tmp_path):
    workspace = fill_workspace(postgres_engine, tmp_path / "home")
    result = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    with postgres_engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(Refused, match="A newer version of Overread made the tables"):
        restore_backup(result.path, workspace, replace=True, now=LATER)
    assert count_all_rows(postgres_engine)["person"] > 0
