"""The tables on both databases: migrations match the models, and append-only rows cannot be changed."""

from __future__ import annotations

import sqlite3
from inspect import getmembers, isclass, ismodule
from pathlib import Path
from types import ModuleType
from typing import Any

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Boolean, Column, Engine, Float, Integer, Table, event, inspect

from storage.append_only import APPEND_ONLY
from storage.rows import all_tables
from storage.rows.all_tables import metadata
from storage.rows.table_row import TableRow
from storage.schema import downgrade, is_current, upgrade
from storage.types import UtcDateTime

pytestmark = pytest.mark.database


@pytest.mark.slow
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
        or (kind == "index" and name in ("job_active", "model_endpoint_in_use"))
    )


@pytest.mark.parametrize("module", [module for _, module in getmembers(all_tables, ismodule)])
def test_each_table_module_imports_the_modules_of_its_foreign_keys(module: ModuleType) -> None:
    """A command imports only the modules that it uses; SQLAlchemy looks up referenced tables by name."""
    known_modules = {module, *(value for _, value in getmembers(module, ismodule))}
    known_tables = {table.name for known_module in known_modules for table in _list_tables(known_module)}
    references = {key.target_fullname for table in _list_tables(module) for key in table.foreign_keys}
    assert {reference.partition(".")[0] for reference in references} <= known_tables


def _list_tables(module: ModuleType) -> list[Table]:
    return [
        value.__table__
        for _, value in getmembers(module, isclass)
        if issubclass(value, TableRow) and value.__module__ == module.__name__
    ]


def test_all_tables_imports_every_table_module() -> None:
    """The migrations are compared with the whole schema."""
    files = {path.stem for path in Path(all_tables.__file__).parent.glob("*.py")}
    modules = {name for name, _ in getmembers(all_tables, ismodule)}
    assert files - modules == {"__init__", "all_tables", "table_row"}


@pytest.mark.slow
def test_migrations_run_down_to_base_and_up_again(engine: Engine) -> None:
    """Each migration's downgrade reverses its upgrade."""
    downgrade(engine, "base")
    assert set(inspect(engine).get_table_names()) <= {"alembic_version"}
    assert not is_current(engine)
    upgrade(engine)
    assert is_current(engine)


@pytest.mark.slow
def test_a_migration_interrupted_by_ctrl_c_is_rolled_back(engine: Engine) -> None:
    downgrade(engine, "base")

    @event.listens_for(engine, "do_execute")
    def interrupt(_cursor: object, statement: str, _parameters: object, _context: object) -> None:
        if "CREATE TABLE dataset" in statement:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upgrade(engine)
    event.remove(engine, "do_execute", interrupt)
    assert set(inspect(engine).get_table_names()) <= {"alembic_version"}
    upgrade(engine)
    assert is_current(engine)


@pytest.mark.parametrize("table", APPEND_ONLY)
@pytest.mark.parametrize("statement", ["UPDATE {table} SET {column} = {column}", "DELETE FROM {table}"])
@pytest.mark.slow
def test_database_refuses_to_change_an_append_only_row(engine: Engine, table: str, statement: str) -> None:
    """The database itself enforces that rows are only added."""
    required = [column for column in metadata.tables[table].columns if not column.nullable]
    names, values = ", ".join(column.name for column in required), ", ".join(map(_make_literal, required))
    is_sqlite = engine.dialect.name == "sqlite"
    connection = engine.raw_connection()
    cursor = connection.cursor()
    # The row is inserted alone: the test needs no batch, question or person.
    cursor.execute("PRAGMA foreign_keys = OFF" if is_sqlite else "SET session_replication_role = replica")
    cursor.execute(f"INSERT INTO {table} ({names}) VALUES ({values})")
    cursor.execute("PRAGMA foreign_keys = ON" if is_sqlite else "SET session_replication_role = origin")
    with pytest.raises((sqlite3.IntegrityError, psycopg.Error), match=f"{table} is append-only"):
        cursor.execute(statement.format(table=table, column=required[0].name))
    connection.close()


def _make_literal(column: Column[Any]) -> str:
    """Return a valid value of the column as an SQL literal."""
    if isinstance(column.type, Boolean):
        return "true"
    if isinstance(column.type, Float | Integer):
        return "1"
    return "'2026-01-02 03:04:05+00:00'" if isinstance(column.type, UtcDateTime) else "'{}'"


def test_list_of_append_only_tables_is_complete(engine: Engine) -> None:
    """The list names exactly the tables with a trigger that refuses DELETE."""
    query = (
        "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
        if engine.dialect.name == "sqlite"
        else "SELECT trigger_name, event_object_table FROM information_schema.triggers"
    )
    with engine.connect() as connection:
        triggers = connection.exec_driver_sql(query).all()
    assert {table for name, table in triggers if name.endswith("_no_delete")} == set(APPEND_ONLY)


def test_sqlite_settings_make_commits_durable(sqlite_engine: Engine) -> None:
    """WAL, synchronous=FULL (2), foreign keys on, and a writer waits for another writer."""
    with sqlite_engine.connect() as connection:
        pragmas = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert pragmas == ["wal", 2, 1, 30_000]
