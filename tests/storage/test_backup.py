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
from storage.rows import AuditRow, PersonRow, ReleaseRow, SignInRow
from storage.schema import downgrade, is_current, read_revision
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.backup_worlds import BY, LATER, furnish, workspace_on
from tests.storage.worlds import NOW

pytestmark = pytest.mark.full


@pytest.fixture
def workspace(engine, tmp_path):
    return furnish(engine, tmp_path / "home")


@pytest.fixture
def backup(workspace, engine, tmp_path):
    return make_backup(workspace, tmp_path / "a.backup", now=NOW).path


@pytest.fixture
def elsewhere(tmp_path) -> Workspace:
    """An empty workspace on SQLite."""
    home = tmp_path / "elsewhere"
    return Workspace(home=home, database_url=f"sqlite:///{home / 'overread.sqlite'}")


def rows_of(workspace: Workspace) -> dict[str, list[bytes]]:
    """The lines of every table, without what a restore changes on purpose: sign-ins and releases' folders."""
    engine = make_engine(workspace.database_url)
    with engine.connect() as connection:
        found = {
            shape.name: list(iterate_lines(connection, shape))
            for shape in inspect_tables(connection)
            if shape.name not in ("sign_in", "release")
        }
    engine.dispose()
    return found


def test_a_backup_restores_to_the_same_rows_files_and_images(workspace, backup, elsewhere):
    restored = restore_backup(backup, elsewhere, now=LATER)
    assert rows_of(elsewhere) == rows_of(workspace)
    assert restored.missing_images == ()
    for path in ("releases/demo-v1/gold.jsonl", "refusals/list.csv"):
        assert (elsewhere.home / path).read_bytes() == (workspace.home / path).read_bytes()
    for name in (path.name for path in workspace.images.rglob("*") if path.is_file()):
        assert get_image_store(elsewhere).read(name) == get_image_store(workspace).read(name)


def test_a_backup_taken_under_load_restores_to_equal_rows_and_hashes(workspace, engine, tmp_path, elsewhere):
    """Each writer's transaction adds a person and an audit entry; a backup contains both or neither."""
    enough, acknowledged = threading.Event(), []

    def write(writer: int) -> None:
        number = 0
        while not enough.is_set():
            number += 1
            with unit_of_work(engine) as db:
                accounts.add_person(
                    db, by=BY, name=f"w{writer}-{number}", display_name=None, roles=[Role.READER],
                    password=None, now=NOW,
                )  # fmt: skip
            acknowledged.append(f"w{writer}-{number}")

    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, writer) for writer in range(4)]

        def wait_for_more_than(count: int) -> None:
            while len(acknowledged) <= count and not any(each.done() for each in writers):
                enough.wait(0.01)

        try:
            wait_for_more_than(20)
            before = list(acknowledged)
            made = make_backup(workspace, tmp_path / "b.backup", now=NOW)
            wait_for_more_than(len(acknowledged))  # the writers went on: none waited for the backup to end
        finally:
            enough.set()
        for each in writers:
            each.result()
    restore_backup(made.path, elsewhere, now=LATER)
    there = make_engine(elsewhere.database_url)
    with read_only_session(there) as db:
        people = set(db.execute(select(PersonRow.name).where(PersonRow.name.startswith("w"))).scalars())
        entries = db.execute(select(func.count()).where(AuditRow.what == "add person")).scalar_one()
    with there.connect() as connection:
        counts = {shape.name: count_rows(connection, shape.name) for shape in inspect_tables(connection)}
    there.dispose()
    assert set(before) <= people <= set(acknowledged)
    assert entries == len(people)
    assert counts == {table.name: table.rows for table in made.manifest.tables}


def test_a_backup_goes_into_the_other_database_and_back(workspace, backup, engine, request, tmp_path):
    other = request.getfixturevalue("postgres_engine" if engine.dialect.name == "sqlite" else "sqlite_engine")
    there = workspace_on(other, tmp_path / "there")
    restore_backup(backup, there, now=LATER)
    assert rows_of(there) == rows_of(workspace)
    again = make_backup(there, tmp_path / "again.backup", now=LATER)
    first = check_backup(backup)
    changed_on_purpose = ("sign_in", "release")
    assert {
        each.name: each.sha256 for each in again.manifest.tables if each.name not in changed_on_purpose
    } == {each.name: each.sha256 for each in first.tables if each.name not in changed_on_purpose}


def test_new_rows_are_numbered_after_the_restored_ones(postgres_engine, tmp_path):
    workspace = furnish(postgres_engine, tmp_path / "home")
    made = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    restore_backup(made.path, workspace, replace=True, now=LATER)
    with unit_of_work(postgres_engine) as db:
        accounts.add_person(
            db, by=BY, name="new", display_name=None, roles=[Role.READER], password=None, now=LATER
        )
    with read_only_session(postgres_engine) as db:
        assert db.execute(select(PersonRow.id).order_by(PersonRow.id.desc())).scalars().first() > 1


def test_who_was_signed_in_at_the_time_of_the_backup_is_signed_out(backup, elsewhere):
    restore_backup(backup, elsewhere, now=LATER)
    engine = make_engine(elsewhere.database_url)
    with read_only_session(engine) as db:
        assert db.execute(select(SignInRow.revoked_at)).scalars().all() == [LATER]
    engine.dispose()


def test_a_release_is_found_where_the_workspace_is_now(backup, elsewhere):
    restore_backup(backup, elsewhere, now=LATER)
    engine = make_engine(elsewhere.database_url)
    with read_only_session(engine) as db:
        [folder] = db.execute(select(ReleaseRow.folder)).scalars()
    engine.dispose()
    assert (Path(folder) / "gold.jsonl").is_file()
    assert Path(folder).is_relative_to(elsewhere.home)


def test_what_can_be_made_again_is_not_in_a_backup(backup, elsewhere):
    restore_backup(backup, elsewhere, now=LATER)
    assert not (elsewhere.home / "cache").exists()


def test_a_backup_is_for_its_owner_alone(backup):
    assert backup.stat().st_mode & 0o777 == 0o600


def test_nothing_but_the_backup_is_left_behind(backup):
    assert [path.name for path in backup.parent.glob("*a.backup*")] == ["a.backup"]


def test_a_file_that_is_there_is_not_replaced_unless_told(workspace, backup, engine):
    before = backup.read_bytes()
    with pytest.raises(AlreadyThere, match="is there already"):
        make_backup(workspace, backup, now=LATER)
    assert backup.read_bytes() == before
    make_backup(workspace, backup, replace=True, now=LATER)
    assert check_backup(backup).made_at == LATER


def test_a_workspace_that_is_not_empty_is_left_as_it_is(workspace, backup):
    before = rows_of(workspace)
    with pytest.raises(Refused, match="is not empty"):
        restore_backup(backup, workspace, now=LATER)
    assert rows_of(workspace) == before


def test_what_was_there_is_set_aside_when_it_has_to_make_way(sqlite_engine, tmp_path):
    workspace = furnish(sqlite_engine, tmp_path)
    made = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    with unit_of_work(sqlite_engine) as db:
        accounts.add_person(
            db, by=BY, name="later", display_name=None, roles=[Role.READER], password=None, now=LATER
        )
    sqlite_engine.dispose()
    restored = restore_backup(made.path, workspace, replace=True, now=LATER)
    assert restored.previous_files is not None
    with sqlite3.connect(restored.previous_files / "overread.sqlite") as aside:
        assert aside.execute("SELECT count(*) FROM person WHERE name = 'later'").fetchone() == (1,)
    aside.close()
    assert (restored.previous_files / "releases" / "demo-v1" / "gold.jsonl").is_file()


def test_a_database_that_the_app_has_open_is_not_replaced(sqlite_engine, tmp_path):
    workspace = furnish(sqlite_engine, tmp_path)
    made = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    with sqlite_engine.connect(), pytest.raises(Refused, match=r"is in use\. Stop the app first"):
        restore_backup(made.path, workspace, replace=True, now=LATER)


def test_an_image_that_is_missing_is_named_and_the_rest_is_backed_up(workspace, engine, tmp_path, elsewhere):
    [first, *_] = sorted(path.name for path in workspace.images.rglob("*") if path.is_file())
    get_image_store(workspace).remove(first)
    made = make_backup(workspace, tmp_path / "b.backup", now=NOW)
    assert made.manifest.images.missing == (first,)
    assert restore_backup(made.path, elsewhere, now=LATER).missing_images == (first,)


def test_an_image_that_was_changed_is_not_backed_up_as_if_it_were_good(workspace, engine, tmp_path):
    [first, *_] = sorted(path for path in workspace.images.rglob("*") if path.is_file())
    first.write_bytes(b"other bytes")
    made = make_backup(workspace, tmp_path / "b.backup", now=NOW)
    assert made.manifest.images.missing == (first.name,)


def test_images_can_be_left_out_and_are_then_looked_for(workspace, engine, tmp_path, elsewhere):
    made = make_backup(workspace, tmp_path / "b.backup", with_images=False, now=NOW)
    assert made.manifest.images.count == 0
    assert len(restore_backup(made.path, elsewhere, now=LATER).missing_images) == 2


def test_tables_of_an_older_version_are_backed_up_as_they_are_and_brought_up_at_the_restore(
    sqlite_engine, tmp_path, elsewhere
):
    workspace = furnish(sqlite_engine, tmp_path / "home")
    downgrade(sqlite_engine, "0001")
    made = make_backup(workspace, tmp_path / "old.backup", now=NOW)
    assert (made.manifest.revision, read_revision(sqlite_engine)) == ("0001", "0001")
    restore_backup(made.path, elsewhere, now=LATER)
    engine = make_engine(elsewhere.database_url)
    assert is_current(engine)
    with engine.connect() as connection:
        assert count_rows(connection, "person") == 6
    engine.dispose()


def test_an_empty_folder_is_no_workspace_to_back_up(elsewhere, tmp_path):
    with pytest.raises(Refused, match="is no workspace yet"):
        make_backup(elsewhere, tmp_path / "b.backup", now=NOW)
