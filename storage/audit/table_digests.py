"""Digests of the tables that the audit trail covers (`coverage.py`).

A checkpoint writes them to a file. Later they are compared with the tables.

The file is compressed JSON Lines. For each table it has a line with name, key and columns, then one line per
row in the order of the primary key: the key, and a string of hexadecimal digits. The first 32 digits are the
row's digest (BLAKE2b, 128 bits). They are followed by 4 digits for each column (the lower half of a CRC-32).
The row's digest detects a change. The column digests show which columns changed.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection

from storage.audit.coverage import COVERED
from storage.backup.tables import TableShape, inspect_tables, iterate_values
from storage.workspace import Workspace

_ROW_DIGITS, _COLUMN_DIGITS = 32, 4
_encoder = msgspec.json.Encoder()


class _SavedRow(NamedTuple):
    """A row of the file: its primary key and its digits."""

    key: tuple[Any, ...]
    digits: str


class _CurrentRow(NamedTuple):
    """A row of the database: its primary key, its values by column, and its digits."""

    key: tuple[Any, ...]
    values: dict[str, Any]
    digits: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDigest:
    """The number of rows of a table, and the SHA-256 of its lines in the file."""

    rows: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestFile:
    """A file of digests. ``sha256`` is the hash of its uncompressed content, and is part of its name."""

    sha256: str
    tables: Mapping[str, TableDigest]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDifference:
    """A row that differs from its digest.

    ``columns`` are the changed columns; empty for an added or deleted row. ``values`` are the row's current
    values by column; of a deleted row they contain only the primary key.
    """

    table: str
    key: tuple[Any, ...]
    values: Mapping[str, Any]
    added: bool = False
    deleted: bool = False
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = f"table {self.table}, row {' / '.join(map(str, self.key))}"
        if self.added:
            return f"{name}: added"
        if self.deleted:
            return f"{name}: deleted"
        return f"{name}: {', '.join(self.columns) or 'the row'} changed"


class DigestFileInvalid(Exception):
    """The file of a checkpoint is missing, unreadable or altered; the message states which."""


def write_digests(connection: Connection, workspace: Workspace) -> DigestFile:
    """Write the digests of the covered tables to a file in the workspace.

    Raises:
        OSError: the file cannot be written.
    """
    folder = workspace.audit
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".making-")
    staged = Path(name)
    try:
        digest, tables = hashlib.sha256(), {}
        with os.fdopen(handle, "wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1, mtime=0) as file:
                for shape in _covered_shapes(connection):
                    table_digest, row_count = hashlib.sha256(), 0
                    header = {"table": shape.name, "key": shape.key, "columns": tuple(shape.columns)}
                    line = _encoder.encode(header) + b"\n"
                    digest.update(line)
                    file.write(line)
                    for row in _iterate_digests(connection, shape, tuple(shape.columns)):
                        line = _encoder.encode((row.key, row.digits)) + b"\n"
                        digest.update(line)
                        table_digest.update(line)
                        file.write(line)
                        row_count += 1
                    tables[shape.name] = TableDigest(rows=row_count, sha256=table_digest.hexdigest())
            raw.flush()
            os.fsync(raw.fileno())
        sha256 = digest.hexdigest()
        staged.replace(digest_path(workspace, sha256))
    finally:
        staged.unlink(missing_ok=True)
    return DigestFile(sha256=sha256, tables=tables)


def remove_other_digests(workspace: Workspace, *, keep: Iterable[str]) -> None:
    """Delete all files of digests except those with the SHA-256s in ``keep``."""
    kept = {digest_path(workspace, sha256) for sha256 in keep}
    for path in workspace.audit.glob("*.jsonl.gz"):
        if path not in kept:
            path.unlink(missing_ok=True)


def digest_path(workspace: Workspace, sha256: str) -> Path:
    """Return the path of the file with that SHA-256."""
    return workspace.audit / f"{sha256}.jsonl.gz"


def find_row_differences(
    connection: Connection, workspace: Workspace, *, sha256: str
) -> Iterator[RowDifference]:
    """Compare the covered tables with a file of digests; yield every added, changed and deleted row.

    Columns that a later version added are ignored. The file is read twice, because its hash is checked first.

    Raises:
        DigestFileInvalid: the file does not exist, or is not the one that the checkpoint recorded.
    """
    path = digest_path(workspace, sha256)
    _check_content(path, sha256)
    shapes = {shape.name: shape for shape in _covered_shapes(connection)}
    for table, columns, saved in _read_tables(path):
        if table in shapes and table in COVERED:
            # Tables that remain in `shapes` were added by a later version and have no digests yet.
            yield from _compare_table(connection, shapes.pop(table), columns, saved)
        else:
            yield from (RowDifference(table=table, key=key, values={}, deleted=True) for key, _ in saved)


def _compare_table(
    connection: Connection, shape: TableShape, columns: tuple[str, ...], saved: Iterator[_SavedRow]
) -> Iterator[RowDifference]:
    shared_columns = tuple(name for name in columns if name in shape.columns)
    has_all_columns = shared_columns == columns
    current = _iterate_digests(connection, shape, shared_columns)
    old, new = next(saved, None), next(current, None)
    while old is not None or new is not None:
        if old is not None and (new is None or old.key < new.key):
            key = dict(zip(shape.key, old.key, strict=True))
            yield RowDifference(table=shape.name, key=old.key, values=key, deleted=True)
            old = next(saved, None)
        elif new is not None and (old is None or new.key < old.key):
            yield RowDifference(table=shape.name, key=new.key, values=new.values, added=True)
            new = next(current, None)
        elif old is not None and new is not None:
            if not (has_all_columns and old.digits == new.digits):
                changed = _changed_columns(columns, old.digits, shared_columns, new.digits)
                if changed or has_all_columns:
                    yield RowDifference(table=shape.name, key=new.key, values=new.values, columns=changed)
            old, new = next(saved, None), next(current, None)


def _changed_columns(
    columns: tuple[str, ...], old: str, shared_columns: tuple[str, ...], new: str
) -> tuple[str, ...]:
    def by_column(names: tuple[str, ...], text: str) -> dict[str, str]:
        parts = range(_ROW_DIGITS, len(text), _COLUMN_DIGITS)
        return dict(zip(names, (text[start : start + _COLUMN_DIGITS] for start in parts), strict=True))

    before, after = by_column(columns, old), by_column(shared_columns, new)
    return tuple(name for name in shared_columns if before[name] != after[name])


def _covered_shapes(connection: Connection) -> list[TableShape]:
    """Return the covered tables by name, without the columns that are not compared."""
    shapes = []
    for shape in sorted(inspect_tables(connection, include=set(COVERED)), key=lambda shape: shape.name):
        not_compared = COVERED[shape.name].not_compared
        kept = {name: kind for name, kind in shape.columns.items() if name not in not_compared}
        shapes.append(TableShape(name=shape.name, columns=kept, key=shape.key))
    return shapes


def _iterate_digests(
    connection: Connection, shape: TableShape, columns: tuple[str, ...]
) -> Iterator[_CurrentRow]:
    """Yield key, values and digits of each row."""
    names = tuple(shape.columns)
    column_indices = [names.index(name) for name in columns]
    key_indices = [names.index(name) for name in shape.key]
    for values in iterate_values(connection, shape):
        fields = [_encoder.encode(values[index]) for index in column_indices]
        row_digest = hashlib.blake2b(b",".join(fields), digest_size=_ROW_DIGITS // 2).hexdigest()
        digits = row_digest + "".join([f"{zlib.crc32(field) & 0xFFFF:04x}" for field in fields])
        yield _CurrentRow(
            key=tuple([values[index] for index in key_indices]),
            values=dict(zip(names, values, strict=True)),
            digits=digits,
        )


def _check_content(path: Path, sha256: str) -> None:
    digest = hashlib.sha256()
    try:
        with gzip.open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except FileNotFoundError as error:
        raise DigestFileInvalid(f"its file of digests {path} is missing") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DigestFileInvalid(f"its file of digests {path} cannot be read ({error})") from error
    if digest.hexdigest() != sha256:
        raise DigestFileInvalid(f"its file of digests {path} was altered")


def _read_tables(path: Path) -> Iterator[tuple[str, tuple[str, ...], Iterator[_SavedRow]]]:
    """Yield name, columns and rows of each table. All rows must be read before the next table."""
    with gzip.open(path, "rb") as file:
        lines = (msgspec.json.decode(line) for line in file)
        header = next(lines, None)

        def rows() -> Iterator[_SavedRow]:
            nonlocal header
            for line in lines:
                if isinstance(line, dict):
                    header = line
                    return
                key, digits = line
                yield _SavedRow(key=tuple(key), digits=digits)
            header = None

        while header is not None:
            yield header["table"], tuple(header["columns"]), rows()
