"""Reads the first rows of a table or JSON file with unknown columns, in a separate process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from domain.errors import InvalidValue
from intake.guarded_process import parse_in_process, send_all
from intake.mapping.declaration import Input
from intake.mapping.paths import follow, parse_path
from intake.mapping.rules import flatten, to_text
from intake.record_files import open_record_file

_ROWS = 200
_MAX_COLUMNS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSample:
    """The first records of a file, their names, and the paths to their values, in the order of the file."""

    names: tuple[int | str, ...]
    records: tuple[Any, ...]
    columns: tuple[str, ...]

    def find_texts(self, column: str) -> list[list[str]]:
        """Return the texts of a column for each record; an empty list for a record without a text."""
        path = parse_path(column)
        return [
            [text for item in flatten(follow(record, path)) if (text := to_text(item))]
            for record in self.records
        ]


def read_sample(path: Path) -> TableSample:
    """Read the first records of a file.

    Raises:
        InvalidValue: the file is not a table or JSON file, or has no records.
        Refused: reading the file needed too much time or memory.
    """
    with closing(parse_in_process("intake.mapping.sample", path, {})) as parts:
        error, names, content = next(parts)
    if error is not None:
        raise InvalidValue(*error)
    records = msgspec.json.decode(content)
    columns: dict[str, None] = {}
    for record in records:
        columns.update(dict.fromkeys(list_columns(record)))
    if not columns:
        raise InvalidValue("file", "has no records with named columns")
    return TableSample(names=tuple(names), records=tuple(records), columns=tuple(columns)[:_MAX_COLUMNS])


def list_columns(record: Any) -> list[str]:  # noqa: ANN401  # any JSON value
    """Return the paths to the values of a record: columns, members of objects, and of objects in lists."""
    if not isinstance(record, dict):
        return []
    paths = []
    for key, value in record.items():
        first = value[0] if isinstance(value, list) and value else None
        if isinstance(value, dict) and any(len(name) > 1 for name in value):
            paths += [f"{key}.{name}" for name in value]
        elif isinstance(first, dict):
            paths += [f"{key}[*].{name}" for name in first]
        else:
            paths.append(key)
    return paths


def _read(options: dict[str, Any]) -> Iterator[Any]:
    try:
        records = open_record_file(Path(options["path"]), Input()).read_records()
        first = list(islice(records, _ROWS))
        named = [(name, raw) for name, raw in first if isinstance(raw, bytes)]
        if not named:
            raise next(
                (raw for _, raw in first if isinstance(raw, InvalidValue)),
                InvalidValue("file", "has no records"),
            )
        yield None, [name for name, _ in named], b"[" + b",".join(raw for _, raw in named) + b"]"
    except InvalidValue as error:
        yield (error.field, error.reason), [], b""


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _read))
