"""Comparison of a database's tables, columns, constraints, indexes and triggers with the expected ones.

The expected schema is a committed file per kind of database, ``storage/migrations/expected/*.json``. It is
written from a database that the migrations created (``make landed``), and a test compares the two.

Reading the schema of a database takes about 200 ms, and each command does it. An SQLite file contains the
statements that created it. If they equal the statements of the migrations, the schema is as expected and is
not read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import ClauseElement, Connection, Engine, Inspector, inspect

from domain.errors import Refused

#: On SQLite, FTS5 stores the search index in tables with this prefix; only their names are compared.
_SEARCH_INDEX = "question_words"
_ALEMBIC = "alembic_version"
#: The maximum number of differences in a message.
_MAX_LISTED = 5


class ObjectKind(StrEnum):
    """The kinds of schema objects. The values are the terms used in messages."""

    TABLE = "table"
    COLUMN = "column"
    PRIMARY_KEY = "primary key"
    UNIQUE = "unique constraint"
    FOREIGN_KEY = "foreign key"
    CHECK = "check constraint"
    INDEX = "index"
    TRIGGER = "trigger"
    FUNCTION = "function"


#: The kinds of objects that hold rows. A backup contains all rows; restoring it recreates the other objects.
#: The search index has no rows of its own, because it is filled from the questions.
_HOLDS_ROWS = (ObjectKind.TABLE, ObjectKind.COLUMN)


@dataclass(frozen=True, slots=True, order=True)
class SchemaObject:
    """One object of a schema. ``table`` is "" for a function; ``name`` is "" for a table."""

    table: str
    kind: ObjectKind
    name: str


#: The definition of each object: SQL text of the database, or "" if it has none.
Schema = Mapping[SchemaObject, str]


class DifferenceKind(StrEnum):
    """How an object of the database differs from the expected one."""

    MISSING = "missing"
    UNEXPECTED = "unexpected"
    ALTERED = "altered"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDifference:
    """One difference from the expected schema. As text it is a clause for a message."""

    kind: DifferenceKind
    object: SchemaObject
    expected: str | None
    actual: str | None

    @property
    def rows_are_complete(self) -> bool:
        """Whether a backup still has every row, so that backup and restore repair the difference."""
        return self.object.kind not in _HOLDS_ROWS or self.object.table.startswith(_SEARCH_INDEX)

    def __str__(self) -> str:
        name, location = _describe_object(self.object)
        match self.kind:
            case DifferenceKind.MISSING:
                return f"{name} is missing{location}"
            case DifferenceKind.UNEXPECTED:
                return f"{name}{location} is not expected"
            case DifferenceKind.ALTERED if self.object.kind in (ObjectKind.COLUMN, ObjectKind.INDEX):
                return f"{name}{location} is {self.actual}, expected {self.expected}"
            case _:
                return f"{name}{location} has another definition than expected"


def check_schema(engine: Engine) -> None:
    """Compare the database with what this version expects.

    Raises:
        Refused: there are differences; the text names them and states what to do.
    """
    with engine.execution_options(overread_read_only=True).connect() as connection:
        differences = [] if _has_statements_of_migrations(connection) else find_schema_differences(connection)
    if differences:
        raise Refused(describe_differences(differences))


def find_schema_differences(connection: Connection) -> list[SchemaDifference]:
    """Return the differences from the expected schema, ordered by table. Nothing is written.

    The database must be at the newest revision. Tables, plain indexes and functions that are not Overread's
    are ignored.
    """
    return compare_schemas(
        expected=load_expected_schema(connection.dialect.name), actual=read_schema(connection)
    )


def describe_differences(differences: Iterable[SchemaDifference]) -> str:
    """Return a message with the differences and what to do about them."""
    all_differences = list(differences)
    summary = "; ".join(str(difference) for difference in all_differences[:_MAX_LISTED])
    if len(all_differences) > _MAX_LISTED:
        summary += f"; and {len(all_differences) - _MAX_LISTED} more, which `cli.py health` lists"
    return (
        f"The database is not as this version of Overread expects: {summary}."
        f" {describe_remedy(all_differences)}"
    )


def describe_remedy(differences: Iterable[SchemaDifference]) -> str:
    """Return what to do about the differences."""
    if all(difference.rows_are_complete for difference in differences):
        return (
            "No row is missing. Stop the app, write a backup (`cli.py backup FILE`) and restore it (`cli.py "
            "restore FILE --replace`): that rebuilds the tables. Then check the audit trail (`cli.py audit "
            "verify`): rows may have been changed while the database did not refuse it."
        )
    return (
        "Undo the change to the database, or stop the app and restore the last backup that was made before "
        "it (`cli.py restore FILE --replace`)."
    )


def compare_schemas(*, expected: Schema, actual: Schema) -> list[SchemaDifference]:
    """Return the differences ordered by table. Columns and constraints of a missing table are not listed."""
    tables = {schema_object.table for schema_object in expected}
    missing_tables = {
        schema_object.table
        for schema_object in expected
        if schema_object.kind is ObjectKind.TABLE and schema_object not in actual
    }
    differences = []
    for schema_object in sorted({*expected, *actual}):
        expected_definition, actual_definition = expected.get(schema_object), actual.get(schema_object)
        if expected_definition == actual_definition or (
            schema_object.table in missing_tables and schema_object.kind is not ObjectKind.TABLE
        ):
            continue
        if expected_definition is None:
            if _is_foreign(schema_object, actual_definition or "", tables):
                continue
            kind = DifferenceKind.UNEXPECTED
        else:
            kind = DifferenceKind.MISSING if actual_definition is None else DifferenceKind.ALTERED
        differences.append(
            SchemaDifference(
                kind=kind, object=schema_object, expected=expected_definition, actual=actual_definition
            )
        )
    return differences


@cache
def load_expected_schema(dialect: str) -> Schema:
    """Return the schema after the newest migration, on "sqlite" or "postgresql"."""
    return schema_from_json(_load_expected(dialect)["schema"])


@cache
def _load_expected(dialect: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(expected_schema_path(dialect).read_text(encoding="utf-8"))
    return content


def list_expected_tables(dialect: str) -> frozenset[str]:
    """Return the names of Overread's tables, as opposed to others in the same database."""
    return frozenset(
        schema_object.table for schema_object in load_expected_schema(dialect) if schema_object.table
    )


def expected_schema_path(dialect: str) -> Path:
    """Return the path of the committed file for that kind of database."""
    return Path(__file__).parent / "migrations" / "expected" / f"{dialect}.json"


def read_schema(connection: Connection) -> Schema:
    """Read the schema of the database, without Alembic's table."""
    is_sqlite = connection.dialect.name == "sqlite"
    inspector = inspect(connection)
    table_names = {name for name in inspector.get_table_names() if name != _ALEMBIC}
    search_index = {name for name in table_names if is_sqlite and name.startswith(_SEARCH_INDEX)}
    schema = {SchemaObject(name, ObjectKind.TABLE, ""): "" for name in table_names}
    schema |= _read_columns_and_constraints(inspector, table_names - search_index)
    schema |= _read_sqlite_definitions(connection) if is_sqlite else _read_postgresql_definitions(connection)
    return schema


def schema_to_json(schema: Schema) -> dict[str, Any]:
    """Return the schema as JSON values by table, kind and name, sorted."""
    tables: dict[str, Any] = {}
    for schema_object in sorted(schema):
        tables.setdefault(schema_object.table, {}).setdefault(schema_object.kind.value, {})[
            schema_object.name
        ] = schema[schema_object]
    return tables


def schema_from_json(tables: dict[str, Any]) -> Schema:
    """Return the schema that :func:`schema_to_json` wrote."""
    return {
        SchemaObject(table, ObjectKind(kind), name): definition
        for table, kinds in tables.items()
        for kind, definitions in kinds.items()
        for name, definition in definitions.items()
    }


def compute_schema_digest(schema: Schema) -> str:
    """Return the SHA-256 of the schema. Equal schemas have equal digests."""
    return hashlib.sha256(json.dumps(schema_to_json(schema), sort_keys=True).encode()).hexdigest()


def compute_statements_digest(connection: Connection) -> str | None:
    """Return the SHA-256 of the statements that created a SQLite database; None on PostgreSQL.

    Equal digests mean equal schemas. The reverse does not hold: with another table in the file, or with
    statements in another form, the digests differ and the schema may still be as expected.
    """
    if connection.dialect.name != "sqlite":
        return None
    rows = connection.exec_driver_sql(  # SQLite adds and removes its own tables, such as statistics
        r"SELECT type, tbl_name, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' "
        "ORDER BY type, tbl_name, name"
    )
    return hashlib.sha256(json.dumps([list(row) for row in rows]).encode()).hexdigest()


def _has_statements_of_migrations(connection: Connection) -> bool:
    digest = compute_statements_digest(connection)
    return digest is not None and digest == _load_expected(connection.dialect.name)["statements"]


def _describe_object(schema_object: SchemaObject) -> tuple[str, str]:
    """Return the object's name and its location."""
    match schema_object.kind:
        case ObjectKind.TABLE:
            return f"table {schema_object.table}", ""
        case ObjectKind.COLUMN:
            return f"column {schema_object.table}.{schema_object.name}", ""
        case ObjectKind.FUNCTION:
            return f"function {schema_object.name}", ""
        case _:
            return f"{schema_object.kind} {schema_object.name}", f" on {schema_object.table}"


def _is_foreign(schema_object: SchemaObject, definition: str, tables: set[str]) -> bool:
    """Return whether an unexpected object is not Overread's and does not affect Overread's rows."""
    is_plain_index = schema_object.kind is ObjectKind.INDEX and not definition.startswith("unique")
    return schema_object.table not in tables or is_plain_index or schema_object.kind is ObjectKind.FUNCTION


def _read_columns_and_constraints(inspector: Inspector, tables: set[str]) -> dict[SchemaObject, str]:
    dialect = inspector.dialect
    schema: dict[SchemaObject, str] = {}

    def add(table: str, kind: ObjectKind, name: str, definition: str = "") -> None:
        schema[SchemaObject(table, kind, name)] = definition

    for table, column in _iterate_items(inspector.get_multi_columns(), tables):
        parts = [column["type"].compile(dialect), "NULL" if column["nullable"] else "NOT NULL"]
        if column["default"] is not None:
            parts.append(f"DEFAULT {column['default']}")
        add(table, ObjectKind.COLUMN, column["name"], " ".join(parts))
    for (_, table), key in inspector.get_multi_pk_constraint().items():
        if table in tables and key["constrained_columns"]:
            add(table, ObjectKind.PRIMARY_KEY, _format_columns(key["constrained_columns"]))
    for table, key in _iterate_items(inspector.get_multi_foreign_keys(), tables):
        target = f"{key['referred_table']} {_format_columns(key['referred_columns'])}"
        options = " ".join(f"{name} {value}" for name, value in sorted(key["options"].items()) if value)
        add(
            table,
            ObjectKind.FOREIGN_KEY,
            f"{_format_columns(key['constrained_columns'])} to {target}",
            options,
        )
    for table, unique in _iterate_items(inspector.get_multi_unique_constraints(), tables):
        add(table, ObjectKind.UNIQUE, _format_columns(unique["column_names"]))
    for table, check in _iterate_items(inspector.get_multi_check_constraints(), tables):
        add(table, ObjectKind.CHECK, check["name"] or check["sqltext"], check["sqltext"])
    for table, index in _iterate_items(inspector.get_multi_indexes(), tables):
        if "duplicates_constraint" not in index:
            add(table, ObjectKind.INDEX, index["name"], _index_definition(index))
    return schema


def _iterate_items(by_table: Mapping[Any, Any], tables: set[str]) -> Iterable[tuple[str, Any]]:
    return ((table, item) for (_, table), items in by_table.items() if table in tables for item in items)


def _format_columns(columns: Iterable[str | None]) -> str:
    return f"({', '.join(map(str, columns))})"


def _index_definition(index: Mapping[str, Any]) -> str:
    options = index.get("dialect_options", {})
    extra_options = [
        f"{name} {value}"
        for name, value in sorted(options.items())
        if isinstance(value, ClauseElement) or value
    ]
    columns = _format_columns(index.get("expressions") or index["column_names"])
    return " ".join(["unique" if index["unique"] else "plain", columns, *extra_options])


def _read_sqlite_definitions(connection: Connection) -> dict[SchemaObject, str]:
    """Return triggers and the search index with the statements that created them."""
    rows = connection.exec_driver_sql(
        "SELECT type, tbl_name, name, sql FROM sqlite_schema WHERE type = 'trigger' OR name = ?",
        (_SEARCH_INDEX,),
    )
    return {
        SchemaObject(table, ObjectKind(kind), name if kind == ObjectKind.TRIGGER else ""): _one_line(sql)
        for kind, table, name, sql in rows
    }


def _read_postgresql_definitions(connection: Connection) -> dict[SchemaObject, str]:
    """Return triggers, including whether they are disabled, and the functions that triggers call."""
    schema = {}
    for table, name, definition, enabled in connection.exec_driver_sql(
        "SELECT c.relname, t.tgname, pg_get_triggerdef(t.oid, true), t.tgenabled::text FROM pg_trigger t "
        "JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal "
        "AND c.relnamespace = current_schema()::regnamespace"
    ):
        state = "" if enabled == "O" else f" (state {enabled})"
        schema[SchemaObject(table, ObjectKind.TRIGGER, name)] = f"{_one_line(definition)}{state}"
    for name, language, body in connection.exec_driver_sql(
        "SELECT p.proname, l.lanname, p.prosrc FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang "
        "WHERE p.prorettype = 'trigger'::regtype AND p.pronamespace = current_schema()::regnamespace"
    ):
        schema[SchemaObject("", ObjectKind.FUNCTION, name)] = f"{language}: {_one_line(body)}"
    return schema


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
