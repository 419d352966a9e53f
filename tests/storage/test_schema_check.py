"""The comparison of a database with the schema that this version expects, on SQLite and PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine

from domain.errors import Refused
from storage import schema_check
from storage.backup import check_backup, make_backup, restore_backup
from storage.schema import downgrade, upgrade
from storage.schema_check import (
    Schema,
    check_schema,
    compute_statements_digest,
    expected_schema_path,
    find_schema_differences,
    read_schema,
    schema_from_json,
    schema_to_json,
)
from tests.storage.backup_worlds import LATER, make_workspace
from tests.storage.land_migrations import build_schemas, format_expected
from tests.storage.worlds import NOW, make_world

pytestmark = [pytest.mark.slow, pytest.mark.database]

ROOT = Path(__file__).resolve().parents[2]


def list_differences(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        return [str(difference) for difference in find_schema_differences(connection)]


def execute(engine: Engine, *statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def make_drop_trigger(engine: Engine, name: str, table: str) -> str:
    """Return the DROP TRIGGER statement; PostgreSQL requires the table, SQLite rejects it."""
    return f"DROP TRIGGER {name}" + ("" if is_sqlite(engine) else f" ON {table}")


def is_sqlite(engine: Engine) -> bool:
    return engine.dialect.name == "sqlite"


def run_command(engine: Engine, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    settings = {
        "OVERREAD_HOME": str(home),
        "OVERREAD_DATABASE_URL": engine.url.render_as_string(hide_password=False),
    }
    return subprocess.run(
        [sys.executable, "cli.py", *arguments], cwd=ROOT, env=os.environ | settings, text=True,
        capture_output=True, check=False,
    )  # fmt: skip


@pytest.mark.full
def test_expected_schema_file_matches_the_migrations(engine: Engine) -> None:
    """After a new migration, run ``make landed``.

    If the digest of an older migration changes, that migration was edited.
    """
    downgrade(engine, "base")
    file = expected_schema_path(engine.dialect.name)
    schemas = build_schemas(engine)
    with engine.connect() as connection:
        statements = compute_statements_digest(connection)
    assert format_expected(schemas, statements) == file.read_text(encoding="utf-8")


def test_a_new_database_has_no_differences(engine: Engine) -> None:
    assert list_differences(engine) == []


def test_a_migrated_sqlite_database_is_recognised_without_reading_its_schema(
    sqlite_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialects: list[str] = []

    def read_and_count(connection: Connection) -> Schema:
        dialects.append(connection.dialect.name)
        return read_schema(connection)

    monkeypatch.setattr(schema_check, "read_schema", read_and_count)
    check_schema(sqlite_engine)
    assert dialects == []
    execute(sqlite_engine, "CREATE TABLE notes_of_the_operator (id INTEGER)")
    check_schema(sqlite_engine)
    assert dialects == ["sqlite"]


def test_an_unknown_table_is_no_difference(engine: Engine) -> None:
    execute(engine, "CREATE TABLE notes_of_the_operator (id INTEGER)")
    assert list_differences(engine) == []


def test_an_altered_database_is_refused(engine: Engine) -> None:
    execute(engine, make_drop_trigger(engine, "audit_entry_no_update", "audit_entry"))
    with pytest.raises(Refused, match="trigger audit_entry_no_update is missing on audit_entry"):
        check_schema(engine)


def test_a_schema_is_read_back_unchanged_from_json(engine: Engine) -> None:
    with engine.connect() as connection:
        schema = read_schema(connection)
    assert schema_from_json(schema_to_json(schema)) == schema


def test_the_message_names_a_missing_table_without_its_columns_and_constraints(engine: Engine) -> None:
    execute(engine, "DROP TABLE look")
    assert list_differences(engine) == ["table look is missing"]


def test_the_message_names_a_missing_trigger_with_its_table(engine: Engine) -> None:
    execute(engine, make_drop_trigger(engine, "audit_entry_no_update", "audit_entry"))
    assert list_differences(engine) == ["trigger audit_entry_no_update is missing on audit_entry"]


def test_the_message_names_the_altered_trigger(engine: Engine) -> None:
    if is_sqlite(engine):
        replacement = "CREATE TRIGGER verdict_no_delete BEFORE DELETE ON verdict BEGIN SELECT 1; END"
        execute(engine, "DROP TRIGGER verdict_no_delete", replacement)
    else:
        execute(engine, "ALTER TABLE verdict DISABLE TRIGGER verdict_no_delete")
    assert list_differences(engine) == [
        "trigger verdict_no_delete on verdict has another definition than expected"
    ]


@pytest.mark.postgresql
def test_the_message_names_the_altered_trigger_function(postgres_engine: Engine) -> None:
    execute(
        postgres_engine,
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN NEW; END $$",
    )
    assert list_differences(postgres_engine) == [
        "function refuse_change has another definition than expected"
    ]


def test_the_message_names_missing_added_and_altered_columns(engine: Engine) -> None:
    execute(
        engine,
        "ALTER TABLE look DROP COLUMN seconds_away",
        "ALTER TABLE look ADD COLUMN note VARCHAR",
        "ALTER TABLE sign_in RENAME COLUMN way TO old_way",
        "ALTER TABLE sign_in ADD COLUMN way VARCHAR DEFAULT 'oidc'",
    )
    suffix = "" if is_sqlite(engine) else "::character varying"
    way = f"VARCHAR NULL DEFAULT 'oidc'{suffix}, expected VARCHAR NOT NULL DEFAULT 'password'{suffix}"
    assert list_differences(engine) == [
        "column look.note is not expected",
        "column look.seconds_away is missing",
        "column sign_in.old_way is not expected",
        f"column sign_in.way is {way}",
    ]


@pytest.mark.postgresql
def test_the_message_names_missing_constraints(postgres_engine: Engine) -> None:
    execute(
        postgres_engine,
        "ALTER TABLE look DROP CONSTRAINT look_pkey",
        "ALTER TABLE look DROP CONSTRAINT look_batch_id_fkey",
        "ALTER TABLE release DROP CONSTRAINT release_dataset_id_name_key",
        "ALTER TABLE patient_data_rules DROP CONSTRAINT patient_data_rules_one_row",
    )
    assert list_differences(postgres_engine) == [
        "foreign key (batch_id) to batch (id) is missing on look",
        "primary key (batch_id, question_id, person_id) is missing on look",
        "check constraint patient_data_rules_one_row is missing on patient_data_rules",
        "unique constraint (dataset_id, name) is missing on release",
    ]


def test_the_message_names_missing_constraints_on_sqlite(sqlite_engine: Engine) -> None:
    """SQLite cannot drop a constraint, so the table is recreated without it."""
    execute(
        sqlite_engine,
        "DROP TABLE look",
        "CREATE TABLE look (batch_id INTEGER NOT NULL, question_id INTEGER NOT NULL, "
        "person_id INTEGER NOT NULL, seconds FLOAT NOT NULL, seconds_looking FLOAT NOT NULL, "
        "seconds_away FLOAT NOT NULL, first_opened_at DATETIME NOT NULL, changed_at DATETIME NOT NULL, "
        "FOREIGN KEY(person_id) REFERENCES person (id), FOREIGN KEY(question_id) REFERENCES question (id))",
        "DROP TABLE patient_data_rules",
        "CREATE TABLE patient_data_rules (id INTEGER NOT NULL, originals VARCHAR NOT NULL, "
        "confirm_pixels VARCHAR NOT NULL, revision INTEGER NOT NULL, pseudonym_key BLOB NOT NULL, "
        "PRIMARY KEY (id))",
        "DROP TABLE first_admin_code",
        "CREATE TABLE first_admin_code (code_sha256 VARCHAR NOT NULL, made_at DATETIME NOT NULL, "
        "expires_at DATETIME NOT NULL, used_at DATETIME, UNIQUE (made_at), PRIMARY KEY (code_sha256))",
    )
    assert list_differences(sqlite_engine) == [
        "unique constraint (made_at) on first_admin_code is not expected",
        "foreign key (batch_id) to batch (id) is missing on look",
        "primary key (batch_id, question_id, person_id) is missing on look",
        "check constraint patient_data_rules_one_row is missing on patient_data_rules",
    ]


def test_the_message_names_a_missing_index(engine: Engine) -> None:
    execute(engine, "DROP INDEX question_dataset_key")
    assert list_differences(engine) == ["index question_dataset_key is missing on question"]


def test_backup_without_the_search_index_is_accepted(engine: Engine, tmp_path: Path) -> None:
    execute(engine, "DROP TABLE question_words")
    make_backup(make_workspace(engine, tmp_path), tmp_path / "a.backup", now=NOW)
    assert [text for text in list_differences(engine) if "table question_words is missing" in text]
    assert all("question_words" in text for text in list_differences(engine))


def test_filled_search_index_is_not_reported(sqlite_engine: Engine) -> None:
    execute(sqlite_engine, "INSERT INTO question_words (rowid, said, facets) VALUES (1, 'nodule', 'x')")
    assert list_differences(sqlite_engine) == []


def test_unknown_tables_and_plain_indexes_are_ignored(engine: Engine) -> None:
    execute(
        engine,
        "CREATE TABLE unknown_table (id INTEGER PRIMARY KEY, name VARCHAR UNIQUE)",
        "CREATE INDEX unknown_table_name ON unknown_table (name)",
        "CREATE VIEW verdicts_given AS SELECT person_id, count(*) FROM verdict GROUP BY person_id",
        "CREATE INDEX look_by_time ON look (changed_at)",
    )
    assert list_differences(engine) == []


def test_the_message_names_the_unexpected_unique_index(engine: Engine) -> None:
    execute(engine, "CREATE UNIQUE INDEX look_once ON look (question_id)")
    assert list_differences(engine) == ["index look_once on look is not expected"]


def test_health_names_a_dropped_table_and_the_remedy(engine: Engine, tmp_path: Path) -> None:
    execute(engine, "DROP TABLE look")
    result = run_command(engine, tmp_path, "health")
    assert result.returncode == 1
    assert "tables    BAD   table look is missing\n" in result.stdout
    assert "restore the last backup that was made before it" in result.stdout


def test_health_names_a_dropped_trigger_and_the_remedy(engine: Engine, tmp_path: Path) -> None:
    execute(engine, make_drop_trigger(engine, "verdict_no_update", "verdict"))
    result = run_command(engine, tmp_path, "health")
    assert result.returncode == 1
    assert "tables    BAD   trigger verdict_no_update is missing on verdict\n" in result.stdout
    assert "No row is missing. Stop the app, write a backup" in result.stdout


def test_a_command_refuses_a_database_with_differences(engine: Engine, tmp_path: Path) -> None:
    execute(engine, "DROP TABLE look", "DROP TABLE pool_member")
    result = run_command(engine, tmp_path, "user", "list")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(
        "The database is not as this version of Overread expects: table look is missing; table pool_member "
        "is missing. Undo the change"
    )
    assert "Traceback" not in result.stderr


@pytest.mark.full
def test_app_does_not_start_on_a_database_with_differences(sqlite_engine: Engine, tmp_path: Path) -> None:
    execute(sqlite_engine, "DROP TABLE look")
    settings = {
        "OVERREAD_HOME": str(tmp_path),
        "OVERREAD_DATABASE_URL": sqlite_engine.url.render_as_string(hide_password=False),
    }
    result = subprocess.run(
        [
            sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0",
            "--server.headless", "true",
        ],
        cwd=ROOT, env=os.environ | settings, text=True, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert result.returncode == 1
    assert "Overread could not start. The database is not as this version" in result.stderr
    assert "table look is missing" in result.stderr
    assert "Traceback" not in result.stderr


def test_migration_0010_creates_the_missing_table(engine: Engine) -> None:
    """The table second_opinions was added to migration 0007 after that migration had been used."""
    downgrade(engine, "0009")
    execute(engine, "DROP TABLE second_opinions")
    assert "table second_opinions is missing" in list_differences(engine)
    upgrade(engine)
    assert list_differences(engine) == []


def test_migration_0010_keeps_an_existing_table(engine: Engine) -> None:
    world = make_world(engine)
    downgrade(engine, "0009")
    execute(
        engine,
        "INSERT INTO second_opinions (batch_id, way, share, seed, sought_at) "
        f"VALUES ({world.batch.id}, 'random', 0.2, 7, '2026-03-02 09:00:00+00:00')",
    )
    upgrade(engine)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT share FROM second_opinions").scalar_one() == 0.2
    assert list_differences(engine) == []


@pytest.mark.full
def test_restore_recreates_missing_triggers_and_indexes(engine: Engine, tmp_path: Path):
    """A backup followed by a restore is the remedy that the message names."""
    workspace = make_workspace(engine, tmp_path / "home")
    make_world(engine, assigned_to=["ruth"])
    execute(
        engine,
        make_drop_trigger(engine, "verdict_no_update", "verdict"),
        make_drop_trigger(
            engine, "study_slot_frozen" + ("_insert" if is_sqlite(engine) else ""), "study_slot"
        ),
        "DROP INDEX question_dataset_key",
    )
    assert len(list_differences(engine)) == 3
    result = make_backup(workspace, tmp_path / "as-it-is.backup", now=NOW)
    engine.dispose()  # the app is stopped before a restore
    restore_backup(result.path, workspace, replace=True, now=LATER)
    assert list_differences(engine) == []


@pytest.mark.parametrize("statement", ["DROP TABLE look", "ALTER TABLE look ADD COLUMN note VARCHAR"])
def test_backup_that_could_not_be_restored_is_not_written(engine: Engine, tmp_path: Path, statement: str):
    workspace = make_workspace(engine, tmp_path / "home")
    execute(engine, statement)
    with pytest.raises(Refused, match="No backup was written: it could not be restored"):
        make_backup(workspace, tmp_path / "a.backup", now=NOW)
    assert not (tmp_path / "a.backup").exists()


def test_unknown_tables_are_not_in_a_backup(engine: Engine, tmp_path: Path):
    """In earlier versions a backup contained them and could not be restored."""
    workspace = make_workspace(engine, tmp_path / "home")
    execute(engine, "CREATE TABLE unknown_table (id INTEGER PRIMARY KEY, value JSON)")
    result = make_backup(workspace, tmp_path / "a.backup", now=NOW)
    assert "unknown_table" not in {table.name for table in result.manifest.tables}
    assert check_backup(result.path).rows == result.manifest.rows
