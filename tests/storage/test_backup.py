"""Backups taken during writes restore to equal rows and hashes; altered backups are refused."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import func, select

from accounts import service as accounts
from domain.errors import AlreadyThere, Refused
from domain.people import Role
from storage.backup import check_backup, make_backup, restore_backup
from storage.backup.tables import count_rows, inspect_tables, iterate_lines
from storage.engine import make_engine
from storage.images.files import get_image_store
from storage.rows.audit import AuditRow
from storage.rows.people import PersonRow, SignInRow
from storage.rows.releases import ReleaseRow
from storage.schema import downgrade, is_current, read_revision
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.backup_worlds import BY, LATER, fill_workspace, make_workspace
from tests.storage.worlds import NOW

pytestmark = pytest.mark.full


@pytest.fixture
def workspace(engine, tmp_path):
    return fill_workspace(engine, tmp_path / "home")


@pytest.fixture
def backup(workspace, engine, tmp_path):
    return make_backup(workspace, tmp_path / "a.backup", now=NOW).path


@pytest.fixture
def empty_workspace(tmp_path) -> Workspace:
    """An empty workspace on SQLite."""
    home = tmp_path / "elsewhere"
    return Workspace(home=home, database_url=f"sqlite:///{home / 'overread.sqlite'}")


def read_rows(workspace: Workspace) -> dict[str, list[bytes]]:
    """The lines of every table except those that a restore changes on purpose: sign_in and release."""
    engine = make_engine(workspace.database_url)
    with engine.connect() as connection:
        rows_by_table = {
            shape.name: list(iterate_lines(connection, shape))
            for shape in inspect_tables(connection)
            if shape.name not in ("sign_in", "release")
        }
    engine.dispose()
    return rows_by_table


def test_a_restored_workspace_has_the_same_rows_files_and_images(workspace, backup, empty_workspace):
    restored = restore_backup(backup, empty_workspace, now=LATER)
    assert read_rows(empty_workspace) == read_rows(workspace)
    assert restored.missing_images == ()
    for path in ("releases/demo-v1/gold.jsonl", "refusals/list.csv"):
        assert (empty_workspace.home / path).read_bytes() == (workspace.home / path).read_bytes()
    for name in (path.name for path in workspace.images.rglob("*") if path.is_file()):
        assert get_image_store(empty_workspace).read(name) == get_image_store(workspace).read(name)


def test_a_backup_made_during_writes_contains_consistent_rows(workspace, engine, tmp_path, empty_workspace):
    """Each writer's transaction adds a person and an audit entry; a backup contains both or neither."""
    stop, saved_names = threading.Event(), []

    def write(writer: int) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            with unit_of_work(engine) as db:
                accounts.add_person(
                    db, by=BY, name=f"w{writer}-{number}", display_name=None, roles=[Role.READER],
                    password=None, now=NOW,
                )  # fmt: skip
            saved_names.append(f"w{writer}-{number}")

    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, writer) for writer in range(4)]

        def wait_for_more_than(count: int) -> None:
            while len(saved_names) <= count and not any(future.done() for future in writers):
                stop.wait(0.01)

        try:
            wait_for_more_than(20)
            names_before = list(saved_names)
            result = make_backup(workspace, tmp_path / "b.backup", now=NOW)
            wait_for_more_than(len(saved_names))  # the writers went on: none waited for the backup to end
        finally:
            stop.set()
        for future in writers:
            future.result()
    restore_backup(result.path, empty_workspace, now=LATER)
    restored_engine = make_engine(empty_workspace.database_url)
    with read_only_session(restored_engine) as db:
        restored_names = set(
            db.execute(select(PersonRow.name).where(PersonRow.name.startswith("w"))).scalars()
        )
        entries = db.execute(select(func.count()).where(AuditRow.what == "add person")).scalar_one()
    with restored_engine.connect() as connection:
        counts = {shape.name: count_rows(connection, shape.name) for shape in inspect_tables(connection)}
    restored_engine.dispose()
    assert set(names_before) <= restored_names <= set(saved_names)
    assert entries == len(restored_names)
    assert counts == {table.name: table.rows for table in result.manifest.tables}


def test_backup_moves_between_sqlite_and_postgresql(workspace, backup, engine, request, tmp_path):
    other_engine = request.getfixturevalue(
        "postgres_engine" if engine.dialect.name == "sqlite" else "sqlite_engine"
    )
    other_workspace = make_workspace(other_engine, tmp_path / "there")
    restore_backup(backup, other_workspace, now=LATER)
    assert read_rows(other_workspace) == read_rows(workspace)
    second_backup = make_backup(other_workspace, tmp_path / "again.backup", now=LATER)
    first_manifest = check_backup(backup)
    changed_tables = ("sign_in", "release")
    assert {
        table.name: table.sha256
        for table in second_backup.manifest.tables
        if table.name not in changed_tables
    } == {table.name: table.sha256 for table in first_manifest.tables if table.name not in changed_tables}


def test_new_rows_are_numbered_after_restored_rows(postgres_engine, tmp_path):
    workspace = fill_workspace(postgres_engine, tmp_path / "home")
    result = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    restore_backup(result.path, workspace, replace=True, now=LATER)
    with unit_of_work(postgres_engine) as db:
        accounts.add_person(
            db, by=BY, name="new", display_name=None, roles=[Role.READER], password=None, now=LATER
        )
    with read_only_session(postgres_engine) as db:
        assert db.execute(select(PersonRow.id).order_by(PersonRow.id.desc())).scalars().first() > 1


def test_restore_revokes_all_sign_ins(backup, empty_workspace):
    restore_backup(backup, empty_workspace, now=LATER)
    engine = make_engine(empty_workspace.database_url)
    with read_only_session(engine) as db:
        assert db.execute(select(SignInRow.revoked_at)).scalars().all() == [LATER]
    engine.dispose()


def test_restored_release_folder_is_in_the_new_workspace(backup, empty_workspace):
    restore_backup(backup, empty_workspace, now=LATER)
    engine = make_engine(empty_workspace.database_url)
    with read_only_session(engine) as db:
        [folder] = db.execute(select(ReleaseRow.folder)).scalars()
    engine.dispose()
    assert (Path(folder) / "gold.jsonl").is_file()
    assert Path(folder).is_relative_to(empty_workspace.home)


def test_backup_does_not_contain_the_cache(backup, empty_workspace):
    restore_backup(backup, empty_workspace, now=LATER)
    assert not (empty_workspace.home / "cache").exists()


def test_backup_is_readable_by_its_owner_only(backup):
    assert backup.stat().st_mode & 0o777 == 0o600


def test_making_a_backup_leaves_no_other_files(backup):
    assert [path.name for path in backup.parent.glob("*a.backup*")] == ["a.backup"]


def test_existing_file_is_replaced_only_on_request(workspace, backup, engine):
    before = backup.read_bytes()
    with pytest.raises(AlreadyThere, match="already exists"):
        make_backup(workspace, backup, now=LATER)
    assert backup.read_bytes() == before
    make_backup(workspace, backup, replace=True, now=LATER)
    assert check_backup(backup).made_at == LATER


def test_restore_into_a_filled_workspace_is_refused(workspace, backup):
    before = read_rows(workspace)
    with pytest.raises(Refused, match="is not empty"):
        restore_backup(backup, workspace, now=LATER)
    assert read_rows(workspace) == before


def test_restore_keeps_the_files_of_the_replaced_workspace(sqlite_engine, tmp_path):
    workspace = fill_workspace(sqlite_engine, tmp_path)
    result = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    with unit_of_work(sqlite_engine) as db:
        accounts.add_person(
            db, by=BY, name="later", display_name=None, roles=[Role.READER], password=None, now=LATER
        )
    sqlite_engine.dispose()
    restored = restore_backup(result.path, workspace, replace=True, now=LATER)
    assert restored.previous_files is not None
    with sqlite3.connect(restored.previous_files / "overread.sqlite") as old_database:
        assert old_database.execute("SELECT count(*) FROM person WHERE name = 'later'").fetchone() == (1,)
    old_database.close()
    assert (restored.previous_files / "releases" / "demo-v1" / "gold.jsonl").is_file()


def test_database_in_use_is_not_replaced(sqlite_engine, tmp_path):
    workspace = fill_workspace(sqlite_engine, tmp_path)
    result = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    with sqlite_engine.connect(), pytest.raises(Refused, match=r"is in use\. Stop the app first"):
        restore_backup(result.path, workspace, replace=True, now=LATER)


def test_a_missing_image_is_listed_and_the_rest_is_backed_up(workspace, engine, tmp_path, empty_workspace):
    [first, *_] = sorted(path.name for path in workspace.images.rglob("*") if path.is_file())
    get_image_store(workspace).remove(first)
    result = make_backup(workspace, tmp_path / "b.backup", now=NOW)
    assert result.manifest.images.missing == (first,)
    assert restore_backup(result.path, empty_workspace, now=LATER).missing_images == (first,)


def test_altered_image_is_reported_as_missing(workspace, engine, tmp_path):
    [first, *_] = sorted(path for path in workspace.images.rglob("*") if path.is_file())
    first.write_bytes(b"other bytes")
    result = make_backup(workspace, tmp_path / "b.backup", now=NOW)
    assert result.manifest.images.missing == (first.name,)


def test_restore_of_a_backup_without_images_lists_them_as_missing(
    workspace, engine, tmp_path, empty_workspace
):
    result = make_backup(workspace, tmp_path / "b.backup", with_images=False, now=NOW)
    assert result.manifest.images.count == 0
    assert len(restore_backup(result.path, empty_workspace, now=LATER).missing_images) == 2


def test_restore_migrates_tables_of_an_older_version(sqlite_engine, tmp_path, empty_workspace):
    workspace = fill_workspace(sqlite_engine, tmp_path / "home")
    downgrade(sqlite_engine, "0001")
    result = make_backup(workspace, tmp_path / "old.backup", now=NOW)
    assert (result.manifest.revision, read_revision(sqlite_engine)) == ("0001", "0001")
    restore_backup(result.path, empty_workspace, now=LATER)
    engine = make_engine(empty_workspace.database_url)
    assert is_current(engine)
    with engine.connect() as connection:
        assert count_rows(connection, "person") == 6
    engine.dispose()


def test_empty_folder_cannot_be_backed_up(empty_workspace, tmp_path):
    with pytest.raises(Refused, match="is not a workspace"):
        make_backup(empty_workspace, tmp_path / "b.backup", now=NOW)
