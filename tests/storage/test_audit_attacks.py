"""Changes of tables and of the audit trail with direct SQL; verification names each change."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import s3fs
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from sqlalchemy import Connection, Engine
from sqlmodel import Session

from accounts.service import command_line_person
from accounts.service.audit_checkpoints import record_checkpoint, verify_and_write_digests
from accounts.service.audit_trail import AuditCheck, verify_audit
from cli import main
from domain.audit import NO_ENTRY
from domain.errors import InvalidValue, Refused
from domain.people import Role
from reader_study.service.reports import load_report_data
from release.service import write_release
from review import service as review
from storage.audit.checkpoints import find_last_checkpoint
from storage.audit.coverage import COVERED, NOT_COVERED
from storage.audit.deposits import Deposits, current_deposits
from storage.audit.entries import iterate_entries
from storage.audit.table_digests import digest_path
from storage.backup.tables import inspect_tables
from storage.backup.triggers import without_triggers
from storage.engine import make_engine
from storage.rows.all_tables import metadata
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage import full_world
from tests.storage.backup_worlds import add_images, make_workspace
from tests.storage.bucket_server import running_bucket_server
from tests.storage.full_world import fill_every_table
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.study_worlds import make_study_world, read_all
from tests.storage.worlds import NOW, World, make_world

pytestmark = pytest.mark.full

BY = command_line_person()
VERDICT_TIME = NOW + timedelta(minutes=1)
LATER = NOW + timedelta(days=1)


def take_checkpoint(
    engine: Engine, workspace: Workspace, *, deposits: Deposits | None = None, reason: str = ""
) -> None:
    with read_only_session(engine) as db:
        verification = verify_and_write_digests(db, by=BY, workspace=workspace, deposits=deposits)
    with unit_of_work(engine) as db:
        record_checkpoint(
            db, by=BY, measured=verification, workspace=workspace, accept_because=reason, now=LATER
        )


def verify(engine: Engine, workspace: Workspace, **options: Any) -> AuditCheck:
    with read_only_session(engine) as db:
        return verify_audit(db, by=BY, workspace=workspace, **options)


def attack(engine: Engine, *statements: str) -> None:
    """Run statements with all triggers off, and restore the triggers afterwards."""
    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        with without_triggers(connection):
            for statement in statements:
                connection.exec_driver_sql(statement)


def find_first_key(connection: Connection, table: str) -> tuple[tuple[object, ...], str]:
    """The key of the table's first row, and the condition that selects it."""
    [shape] = inspect_tables(connection, include={table})
    names = ", ".join(f'"{name}"' for name in shape.key)
    row = connection.exec_driver_sql(f'SELECT {names} FROM "{table}" ORDER BY {names}').first()
    conditions = [
        f'"{name}" = ' + (f"'{value}'" if isinstance(value, str) else str(value))
        for name, value in zip(shape.key, row, strict=True)
    ]
    return tuple(row), " AND ".join(conditions)


def find_editable_column(connection: Connection, table: str) -> tuple[str, str]:
    """A column outside the key, with an SQL expression that changes its value."""
    [shape] = inspect_tables(connection, include={table})
    excluded_columns = (
        {name for key in metadata.tables[table].foreign_keys for name in [key.parent.name]}
        | set(shape.key)
        | set(COVERED[table].not_compared)
    )
    changes = {
        "text": "coalesce({}, '') || 'x'", "integer": "coalesce({}, 0) + 1", "real": "coalesce({}, 0) + 0.25",
        "boolean": "NOT {}", "time": "'2020-01-01 00:00:00.000000+00:00'", "bytes": "{}",
    }  # fmt: skip
    for kind in ("text", "real", "integer", "boolean", "time"):
        for name, actual in shape.columns.items():
            if actual == kind and name not in excluded_columns:
                return name, changes[kind].format(f'"{name}"')
    return "", ""


@pytest.fixture(scope="module")
def full_workspace(request, sqlite_template, tmp_path_factory):
    """A workspace with rows in every table on SQLite, and a checkpoint."""
    folder = tmp_path_factory.mktemp("attacked")
    shutil.copyfile(sqlite_template, folder / "overread.sqlite")
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    workspace = fill_every_table(engine, folder / "home")
    take_checkpoint(engine, workspace)
    yield engine, workspace
    engine.dispose()


def verify_after(engine: Engine, workspace: Workspace, *statements: str) -> AuditCheck:
    """The result of verification after the statements, which are rolled back."""
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        with without_triggers(connection):
            for statement in statements:
                connection.exec_driver_sql(statement)
        with Session(connection) as db:
            result = verify_audit(db, by=BY, workspace=workspace)
        connection.rollback()
    return result


def test_every_table_is_in_exactly_one_of_both_coverage_lists():
    assert set(COVERED) | set(NOT_COVERED) == set(metadata.tables)
    assert not set(COVERED) & set(NOT_COVERED)


def test_a_workspace_with_rows_in_every_table_agrees_with_its_checkpoint(full_workspace):
    engine, workspace = full_workspace
    assert verify(engine, workspace).faults == ()


@pytest.mark.parametrize("table", sorted(COVERED))
def test_the_message_names_an_edited_row_with_its_column(full_workspace, table):
    engine, workspace = full_workspace
    with engine.connect() as connection:
        key, condition = find_first_key(connection, table)
        column, change = find_editable_column(connection, table)
    if not column:  # each column is in the key or refers to another row: such a row is replaced, not edited
        assert table in ("adjudicator", "applied_question", "leaderboard_member", "person_role")
        return
    result = verify_after(engine, workspace, f'UPDATE "{table}" SET "{column}" = {change} WHERE {condition}')
    row = f"table {table}, row {' / '.join(map(str, key))}: {column} changed"
    assert any(row in fault for fault in result.faults), result.faults


@pytest.mark.parametrize("table", sorted(COVERED))
def test_the_message_names_a_deleted_row(full_workspace, table):
    engine, workspace = full_workspace
    with engine.connect() as connection:
        key, condition = find_first_key(connection, table)
    result = verify_after(engine, workspace, f'DELETE FROM "{table}" WHERE {condition}')
    row = f"table {table}, row {' / '.join(map(str, key))}: deleted"
    assert any(row in fault for fault in result.faults), result.faults


def test_the_message_names_a_role_that_was_inserted(full_workspace):
    engine, workspace = full_workspace
    with engine.connect() as connection:
        person = connection.exec_driver_sql("SELECT id FROM person WHERE name = 'ruth'").scalar_one()
    statement = f"INSERT INTO person_role (person_id, role) VALUES ({person}, '{Role.ADMIN}')"
    result = verify_after(engine, workspace, statement)
    assert any(f"table person_role, row {person} / admin: added" in fault for fault in result.faults)


def test_changes_by_services_after_a_checkpoint_are_no_faults(engine, tmp_path, monkeypatch):
    """Rows that the world inserts directly precede the checkpoint; services add rows after it."""

    def add_images_then_take_checkpoint(engine: Engine, home: Path) -> Workspace:
        workspace = add_images(engine, home)
        take_checkpoint(engine, workspace)
        return workspace

    monkeypatch.setattr(full_world, "add_images", add_images_then_take_checkpoint)
    workspace = fill_every_table(engine, tmp_path / "home")
    with read_only_session(engine) as db:
        assert find_last_checkpoint(db) is not None
    assert verify(engine, workspace).faults == ()


def test_the_message_names_a_dropped_trigger(world, tmp_path):
    with world.engine.begin() as connection:
        on_table = "" if world.engine.dialect.name == "sqlite" else " ON verdict"
        connection.exec_driver_sql(f"DROP TRIGGER verdict_no_update{on_table}")
    result = verify(world.engine, make_workspace(world.engine, tmp_path / "home"))
    assert result.faults == ("In the database, trigger verdict_no_update is missing on verdict.",)


@pytest.fixture
def world(engine: Engine) -> World:
    world = make_world(engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_acceptance(world, question=2))
    return world


@pytest.fixture
def deposit_folder(tmp_path, monkeypatch):
    """A folder for deposits outside the workspace."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.setenv("OVERREAD_AUDIT_DEPOSIT", str(folder))
    return folder


def add_deposit(engine: Engine, deposits: Deposits) -> None:
    with read_only_session(engine) as db:
        *_, last_entry = iterate_entries(db)
    deposits.add(number=last_entry.number, head=last_entry.hash, now=LATER)


def rewrite_chain(engine: Engine, *, change: str) -> None:
    """Rewrite the whole chain after a change of the entries, as anybody who can write to the database can."""
    attack(engine, change)
    with read_only_session(engine) as db:
        entries = list(iterate_entries(db))
    previous_hash, statements = NO_ENTRY, []
    for entry in entries:
        new_hash = replace(entry, previous_hash=previous_hash).compute_hash()
        statements.append(
            f"UPDATE audit_entry SET previous_hash = '{previous_hash}', hash = '{new_hash}' "
            f"WHERE number = {entry.number}"
        )
        previous_hash = new_hash
    attack(engine, *statements)


FORGE_FIRST_ENTRY = "UPDATE audit_entry SET why = 'forged' WHERE number = 1"


def test_a_rewritten_chain_without_a_deposit_is_reported_as_unanchored(world, tmp_path):
    workspace = make_workspace(world.engine, tmp_path / "home")
    rewrite_chain(world.engine, change=FORGE_FIRST_ENTRY)
    result = verify(world.engine, workspace)
    assert result.faults == ()
    assert (result.anchored_at, result.unanchored_since) == (None, VERDICT_TIME)


def test_a_rewritten_chain_contradicts_a_deposit(world, tmp_path, deposit_folder):
    workspace = make_workspace(world.engine, tmp_path / "home")
    deposits = current_deposits(workspace)
    add_deposit(world.engine, deposits)
    assert verify(world.engine, workspace, deposits=deposits).unanchored_since is None
    rewrite_chain(world.engine, change=FORGE_FIRST_ENTRY)
    [fault] = verify(world.engine, workspace, deposits=deposits).faults
    assert "has another hash for entry 2: this entry or an earlier one was rewritten" in fault


def test_deleted_last_entries_are_detected_by_a_deposit(world, tmp_path, deposit_folder):
    workspace = make_workspace(world.engine, tmp_path / "home")
    deposits = current_deposits(workspace)
    add_deposit(world.engine, deposits)
    attack(
        world.engine,
        "DELETE FROM audit_entry WHERE number = 2",
        f"DELETE FROM verdict WHERE question_id = {world.questions[1]}",
    )
    result = verify(world.engine, workspace, deposits=deposits)
    assert any("Entry 2 of the deposit" in fault and "missing" in fault for fault in result.faults)


def test_entries_after_a_deposit_are_unanchored(world, tmp_path, deposit_folder):
    workspace = make_workspace(world.engine, tmp_path / "home")
    deposits = current_deposits(workspace)
    add_deposit(world.engine, deposits)
    with unit_of_work(world.engine) as db:
        review.close_batch(db, by=world.people["cora"], batch="first", now=LATER)
    result = verify(world.engine, workspace, deposits=deposits)
    assert (result.faults, result.anchored_at, result.unanchored_since) == ((), VERDICT_TIME, LATER)


@pytest.fixture
def signing_key(tmp_path, monkeypatch):
    path = tmp_path / "audit.pem"

    def generate() -> None:
        pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path.write_bytes(pem)

    generate()
    monkeypatch.setenv("OVERREAD_AUDIT_KEY", str(path))
    return generate


def test_a_forged_deposit_is_reported_because_it_is_not_signed(
    world, tmp_path, deposit_folder, signing_key, monkeypatch
):
    """The attacker rewrites the chain and the deposits, but does not have the key."""
    workspace = make_workspace(world.engine, tmp_path / "home")
    deposits = current_deposits(workspace)
    add_deposit(world.engine, deposits)
    assert verify(world.engine, workspace, deposits=deposits).faults == ()
    rewrite_chain(world.engine, change=FORGE_FIRST_ENTRY)
    for path in deposit_folder.iterdir():
        path.unlink()
    monkeypatch.delenv("OVERREAD_AUDIT_KEY")
    add_deposit(world.engine, current_deposits(workspace))
    [fault] = verify(world.engine, workspace, deposits=deposits).faults
    assert "cannot be trusted: it is not signed." in fault


def test_a_deposit_folder_inside_the_workspace_is_refused(world, tmp_path, monkeypatch):
    workspace = make_workspace(world.engine, tmp_path / "home")
    monkeypatch.setenv("OVERREAD_AUDIT_DEPOSIT", str(workspace.home / "heads"))
    with pytest.raises(InvalidValue, match="inside the workspace"):
        current_deposits(workspace)


def test_a_checkpoint_after_an_unexplained_change_requires_a_reason(world, tmp_path):
    workspace = make_workspace(world.engine, tmp_path / "home")
    take_checkpoint(world.engine, workspace)
    attack(world.engine, f"UPDATE question SET answer = 'forged' WHERE id = {world.questions[3]}")
    with pytest.raises(Refused, match=r"table question, row \d+: answer changed"):
        take_checkpoint(world.engine, workspace)
    take_checkpoint(world.engine, workspace, reason="key repaired by hand")
    assert verify(world.engine, workspace).faults == ()
    with read_only_session(world.engine) as db:
        *_, last_entry = iterate_entries(db)
    assert (last_entry.reason, "answer changed" in last_entry.old) == ("key repaired by hand", True)


def test_digests_that_were_altered_or_removed_are_reported(world, tmp_path):
    workspace = make_workspace(world.engine, tmp_path / "home")
    take_checkpoint(world.engine, workspace)
    with read_only_session(world.engine) as db:
        path = digest_path(workspace, find_last_checkpoint(db).digests)
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    assert "cannot be read" in verify(world.engine, workspace).fault
    path.unlink()
    assert "is missing" in verify(world.engine, workspace).fault
    path.write_bytes(content)
    assert verify(world.engine, workspace).faults == ()


@pytest.fixture
def command_engine(monkeypatch, sqlite_engine, tmp_path) -> Engine:
    """The database of the workspace that the commands use."""
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "home"))
    return sqlite_engine


def test_the_command_verifies_deposits_and_lists_every_change(
    command_engine, deposit_folder, signing_key, capsys
):
    world = make_world(command_engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    assert main(["audit", "verify"]) == 0
    assert "Unanchored since 2026-03-02 09:01:00 UTC, the first entry" in capsys.readouterr().out
    assert main(["audit", "checkpoint"]) == 0
    assert len(list(deposit_folder.iterdir())) == 1
    assert main(["audit", "verify"]) == 0
    assert capsys.readouterr().out.splitlines()[-3].startswith("The audit trail is intact: 2 entries")
    attack(
        command_engine,
        "UPDATE question SET answer = 'forged' WHERE id = 2",
        "UPDATE person SET display_name = 'Somebody' WHERE name = 'ruth'",
    )
    assert main(["audit", "verify"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert [error.rpartition("table ")[2] for error in errors] == [
        "person, row 2: display_name changed.", "question, row 2: answer changed.",
    ]  # fmt: skip
    assert main(["audit", "checkpoint"]) == 1
    assert "no checkpoint was taken" in capsys.readouterr().err.lower()


@pytest.fixture
def locked_bucket(monkeypatch):
    """A bucket with object lock on an S3-compatible server, and a client of it."""
    with running_bucket_server() as server:
        for name, value in server.settings("").items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("OVERREAD_AUDIT_DEPOSIT", "s3://locked/heads")
        monkeypatch.setenv("OVERREAD_AUDIT_LOCK_DAYS", "30")
        files = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
        files.call_s3("create_bucket", Bucket="locked", ObjectLockEnabledForBucket=True)
        yield files


def test_deposits_in_a_bucket_are_locked(locked_bucket, tmp_path, world):
    workspace = make_workspace(world.engine, tmp_path / "home")
    deposits = current_deposits(workspace)
    assert verify(world.engine, workspace, deposits=deposits).anchored_at is None
    name = deposits.add(number=2, head=load_newest_hash(world.engine), now=datetime.now(UTC))
    assert verify(world.engine, workspace, deposits=deposits).unanchored_since is None
    stored_object = locked_bucket.call_s3("head_object", Bucket="locked", Key=f"heads/{name}")
    assert stored_object["ObjectLockMode"] == "COMPLIANCE"
    rewrite_chain(world.engine, change=FORGE_FIRST_ENTRY)
    assert "an earlier one was rewritten" in verify(world.engine, workspace, deposits=deposits).fault


def test_a_manifest_has_the_entry_of_the_last_judgement_and_anchors_the_trail(world, tmp_path):
    workspace = make_workspace(world.engine, tmp_path / "home")
    with read_only_session(world.engine) as db:
        write_release(
            db, by=BY, dataset="demo", name="v1", out=tmp_path / "v1", with_audit_head=True, formats=(),
            workspace=workspace,
        )  # fmt: skip
    manifest = json.loads((tmp_path / "v1" / "manifest.json").read_text())
    assert manifest["audit"] == {"number": 2, "hash": load_newest_hash(world.engine)}
    check = verify(world.engine, workspace, head=manifest["audit"]["hash"])
    assert (check.faults, check.unanchored_since) == ((), None)
    rewrite_chain(world.engine, change=FORGE_FIRST_ENTRY)
    assert "the stated head" in verify(world.engine, workspace, head=manifest["audit"]["hash"]).fault


def test_a_study_report_names_the_last_entry_about_its_data(engine):
    study_world = make_study_world(engine)
    read_all(study_world)
    with read_only_session(engine) as db:
        data = load_report_data(db, by=BY, study=study_world.study.name)
        entries = list(iterate_entries(db))
    assert data.audit_head.hash in [entry.hash for entry in entries if entry.action == "give reading"]


def load_newest_hash(engine: Engine) -> str:
    with read_only_session(engine) as db:
        *_, last_entry = iterate_entries(db)
    return last_entry.hash
