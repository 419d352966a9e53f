"""The tables on both databases: migrations match the models, and judgements cannot be changed."""

from __future__ import annotations

import sqlite3
from inspect import getmembers, isclass, ismodule
from pathlib import Path
from types import ModuleType

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, Table, inspect

from storage.append_only import APPEND_ONLY
from storage.rows import all_tables
from storage.rows.all_tables import metadata
from storage.rows.table_row import TableRow
from storage.schema import downgrade, is_current, upgrade


def test_migrations_create_exactly_the_tables_of_the_models(engine: Engine) -> None:
    """A column that is in a model but in no migration would be missing in every real database."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _is_declared_by_models})
        assert compare_metadata(context, metadata) == []


def _is_declared_by_models(name: str | None, kind: str, _parents: object) -> bool:
    """Whether the models declare the object.

    They do not declare the search index, which differs between the databases, and a partial index
    (storage/rows/jobs.py).
    """
    return not (
        (kind == "table" and (name or "").startswith("question_words"))
        or (kind == "index" and name == "job_active")
    )


@pytest.mark.parametrize("group", [group for _, group in getmembers(all_tables, ismodule)])
def test_a_group_of_tables_imports_those_that_its_foreign_keys_refer_to(group: ModuleType) -> None:
    """A command imports only the groups that it uses; SQLAlchemy looks up referenced tables by name."""
    known_groups = {group, *(value for _, value in getmembers(group, ismodule))}
    known_tables = {table.name for known in known_groups for table in _list_tables(known)}
    references = {key.target_fullname for table in _list_tables(group) for key in table.foreign_keys}
    assert {reference.partition(".")[0] for reference in references} <= known_tables


def _list_tables(group: ModuleType) -> list[Table]:
    return [
        value.__table__
        for _, value in getmembers(group, isclass)
        if issubclass(value, TableRow) and value.__module__ == group.__name__
    ]


def test_every_group_of_tables_is_in_the_whole_schema() -> None:
    """The migrations are compared with the whole schema."""
    files = {path.stem for path in Path(all_tables.__file__).parent.glob("*.py")}
    groups = {name for name, _ in getmembers(all_tables, ismodule)}
    assert files - groups == {"__init__", "all_tables", "table_row"}


def test_migrations_run_down_to_base_and_up_again(engine: Engine) -> None:
    """Each migration's downgrade reverses its upgrade."""
    downgrade(engine, "base")
    assert set(inspect(engine).get_table_names()) <= {"alembic_version"}
    assert not is_current(engine)
    upgrade(engine)
    assert is_current(engine)


@pytest.mark.parametrize("table", APPEND_ONLY)
@pytest.mark.parametrize("statement", ["UPDATE {0} SET person_id = 2", "DELETE FROM {0}"])
def test_database_refuses_to_change_a_judgement(engine: Engine, table: str, statement: str) -> None:
    """The database itself enforces that verdicts are append-only."""
    timestamp = "'2026-01-02 03:04:05+00:00'"
    values = {
        "verdict": f"(1, 1, 1, 1, 'accept', '[]', '{{}}', '', '', '', 1, 1, 0, {timestamp})",
        "own_answer": f"(1, 1, 1, 3, {timestamp})",
        "skip": f"(1, 1, 1, 1, 'burned-in answer', {timestamp})",
        "report_opening": f"(1, 1, 1, 4, {timestamp})",
        "adjudication": f"(1, 1, 1, 1, 'accept', '{{}}', '[]', 'so', {timestamp})",
        "audit_entry": f"(1, {timestamp}, 1, 'ruth', 'give verdict', 'batch 1 question 1', '', '0', '1')",
        "applied_rule": f"(1, 1, 'reject', '{{}}', 'so', 1, 1, {timestamp})",
        "rule_taken_back": f"(1, 'so', 1, {timestamp})",
        "question_comment": f"(1, 1, 1, 1, 1, 'so', {timestamp})",
    }[table]
    columns = {
        "verdict": "(batch_id, question_id, person_id, revision, decision, errors, correction, "
        "clinical_reasoning, comment, why, seconds, seconds_looking, seconds_away, given_at)",
        "own_answer": "(batch_id, question_id, person_id, confidence, committed_at)",
        "skip": "(batch_id, question_id, person_id, number, reason, skipped_at)",
        "report_opening": "(batch_id, question_id, person_id, image_alignment, opened_at)",
        "adjudication": "(batch_id, question_id, revision, person_id, decision, correction, follows, reason, "
        "given_at)",
        "audit_entry": "(number, at, person_id, person_name, what, subject, why, previous_hash, hash)",
        "applied_rule": "(id, dataset_id, what, search, reason, questions, person_id, applied_at)",
        "rule_taken_back": "(rule_id, reason, person_id, taken_back_at)",
        "question_comment": "(id, batch_id, question_id, reviewer_id, author_id, text, written_at)",
    }[table]
    if table == "question_comment":
        statement = statement.replace("person_id", "author_id")
    sqlite = engine.dialect.name == "sqlite"
    connection = engine.raw_connection()
    cursor = connection.cursor()
    # The row is inserted alone: the test needs no batch, question or person.
    cursor.execute("PRAGMA foreign_keys = OFF" if sqlite else "SET session_replication_role = replica")
    cursor.execute(f"INSERT INTO {table} {columns} VALUES {values}")
    cursor.execute("PRAGMA foreign_keys = ON" if sqlite else "SET session_replication_role = origin")
    with pytest.raises((sqlite3.IntegrityError, psycopg.Error), match=f"{table} is append-only"):
        cursor.execute(statement.format(table))
    connection.close()


def test_sqlite_settings_make_commits_durable(sqlite_engine: Engine) -> None:
    """WAL, synchronous=FULL (2), foreign keys on, and a writer waits for another writer."""
    with sqlite_engine.connect() as connection:
        pragmas = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert pragmas == ["wal", 2, 1, 30_000]
