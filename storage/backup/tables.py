"""Conversion of tables to and from lines of JSON that are identical on SQLite and PostgreSQL.

A line is the list of a row's values in the order of its columns. Times are ISO 8601 in UTC, bytes are base64.
Lines are in the order of the primary key, with text ordered by its UTF-8 bytes. Equal rows therefore have
equal lines and the same SHA-256 on both databases.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, Inspector, inspect, types

from records.decoding import make_decoder

_KINDS: tuple[tuple[type, str], ...] = (
    (types.Boolean, "boolean"),
    (types.Integer, "integer"),
    (types.Float, "real"),
    (types.Numeric, "real"),
    (types.DateTime, "time"),
    (types.LargeBinary, "bytes"),
    (types.String, "text"),
)
_ROWS_AT_ONCE = 2_000
#: The search index. Its format differs between the databases, and it is rebuilt from the questions.
DERIVED_TABLES = ("question_words",)
_encoder = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """A table's columns with their kinds, and its primary key."""

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]


def inspect_tables(connection: Connection, *, include: Collection[str] | None = None) -> list[TableShape]:
    """Return the tables of the database, or only those in ``include``.

    Each table comes after the tables that it refers to. Alembic's table and derived tables
    (:data:`DERIVED_TABLES`) are omitted.
    """
    inspector = inspect(connection)
    names = [name for name, _ in inspector.get_sorted_table_and_fkc_names() if name]
    return [
        _inspect_table(inspector, name)
        for name in names
        if not _is_excluded(name) and (include is None or name in include)
    ]


def count_rows(connection: Connection, table: str) -> int:
    statement = f'SELECT count(*) FROM "{table}"'  # noqa: S608 - its own names
    return int(connection.exec_driver_sql(statement).scalar_one())


def iterate_lines(connection: Connection, shape: TableShape) -> Iterator[bytes]:
    """Yield the rows as lines, with newlines. At most a few thousand are in memory."""
    for values in iterate_values(connection, shape):
        yield _encoder.encode(values) + b"\n"


def iterate_values(connection: Connection, shape: TableShape) -> Iterator[list[Any]]:
    """Yield the values of each row as in its line, but times as datetime and bytes as bytes."""
    is_sqlite = connection.dialect.name == "sqlite"
    converters = [
        _FROM_SQLITE.get(kind) if is_sqlite else _FROM_POSTGRES.get(kind) for kind in shape.columns.values()
    ]
    conversions = [(index, convert) for index, convert in enumerate(converters) if convert is not None]
    collate = "" if is_sqlite else ' COLLATE "C"'
    order = ", ".join(
        f'"{name}"{collate if shape.columns[name] == "text" else ""}' for name in shape.key or shape.columns
    )
    columns = ", ".join(f'"{name}"' for name in shape.columns)
    statement = f'SELECT {columns} FROM "{shape.name}" ORDER BY {order}'  # noqa: S608 - the database's own names
    options = {"stream_results": True, "yield_per": _ROWS_AT_ONCE}
    for row in connection.exec_driver_sql(statement, execution_options=options):
        values = list(row)
        for index, convert in conversions:
            if values[index] is not None:
                values[index] = convert(values[index])
        yield values


def insert_lines(connection: Connection, shape: TableShape, lines: Iterable[bytes]) -> int:
    """Insert rows from their lines as one bulk insert; return their number.

    Raises:
        ValueError: a line is not a row of this table.
    """
    is_sqlite = connection.dialect.name == "sqlite"
    decode = make_decoder(list[Any]).decode
    converters = [(_TO_SQLITE if is_sqlite else _TO_POSTGRES).get(kind) for kind in shape.columns.values()]
    conversions = [(index, convert) for index, convert in enumerate(converters) if convert is not None]

    def rows() -> Iterator[Sequence[Any]]:
        for line in lines:
            values = decode(line)
            if len(values) != len(shape.columns):
                raise ValueError(
                    f"a line of table {shape.name} has {len(values)} values instead of {len(shape.columns)}"
                )
            for index, convert in conversions:
                if values[index] is not None:
                    values[index] = convert(values[index])
            yield values

    driver: Any = connection.connection.driver_connection  # sqlite3's or psycopg's
    columns = ", ".join(f'"{name}"' for name in shape.columns)
    try:
        if is_sqlite:
            placeholders = ", ".join("?" * len(shape.columns))
            statement = f'INSERT INTO "{shape.name}" ({columns}) VALUES ({placeholders})'  # noqa: S608 - its own names
            return int(driver.cursor().executemany(statement, rows()).rowcount)
        with driver.cursor() as cursor:
            with cursor.copy(f'COPY "{shape.name}" ({columns}) FROM STDIN') as copy:
                for row in rows():
                    copy.write_row(row)
            return int(cursor.rowcount)
    except connection.dialect.loaded_dbapi.Error as error:
        raise ValueError(f"table {shape.name}: {error}") from error


def reset_sequence(connection: Connection, shape: TableShape) -> None:
    """Set PostgreSQL's sequence to the highest id. SQLite needs no sequence."""
    if connection.dialect.name == "sqlite" or len(shape.key) != 1:
        return
    [column] = shape.key
    if shape.columns[column] != "integer":
        return
    sequence = connection.exec_driver_sql(
        "SELECT pg_get_serial_sequence(%s, %s)", (f'"{shape.name}"', column)
    ).scalar()
    if sequence is not None:
        highest = f'SELECT max("{column}") FROM "{shape.name}"'  # noqa: S608 - the database's own names
        connection.exec_driver_sql(
            f"SELECT setval(%s, highest.id) FROM ({highest}) highest(id) WHERE highest.id IS NOT NULL",  # noqa: S608 - as above
            (sequence,),
        )


def _is_excluded(name: str) -> bool:
    """Return whether the table is left out, including the internal tables of SQLite's search index."""
    return name == "alembic_version" or any(
        name == derived or name.startswith(f"{derived}_") for derived in DERIVED_TABLES
    )


def _inspect_table(inspector: Inspector, name: str) -> TableShape:
    columns = {
        column["name"]: _column_kind(name, column["name"], column["type"])
        for column in inspector.get_columns(name)
    }
    return TableShape(
        name=name, columns=columns, key=tuple(inspector.get_pk_constraint(name)["constrained_columns"])
    )


def _column_kind(table: str, column: str, column_type: types.TypeEngine[Any]) -> str:
    for sql_type, kind in _KINDS:
        if isinstance(column_type, sql_type):
            return kind
    raise ValueError(f"{table}.{column} has the type {column_type!r}, which a backup cannot store")


def _to_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _encode_real(value: float) -> float | str:
    return value if math.isfinite(value) else repr(value)


def _format_sqlite_time(text: str) -> str:
    return datetime.fromisoformat(text).strftime("%Y-%m-%d %H:%M:%S.%f")


_Converter = Callable[[Any], Any]
_FROM_SQLITE: dict[str, _Converter] = {
    "boolean": bool,
    "time": lambda text: _to_utc(datetime.fromisoformat(text)),
    "real": _encode_real,
}
_FROM_POSTGRES: dict[str, _Converter] = {"time": _to_utc, "real": lambda value: _encode_real(float(value))}
_TO_SQLITE: dict[str, _Converter] = {
    "boolean": int,
    "time": _format_sqlite_time,
    "bytes": base64.b64decode,
    "real": float,
}
_TO_POSTGRES: dict[str, _Converter] = {
    "time": datetime.fromisoformat,
    "bytes": base64.b64decode,
    "real": float,
}
