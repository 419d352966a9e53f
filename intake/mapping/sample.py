"""Reads the first rows of a table or JSON file with unknown columns, in a separate process."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from domain.errors import InvalidValue
from intake.guarded_process import parse_in_process, send_all
from intake.mapping.declaration import Input
from intake.mapping.paths import follow, parse_path
from intake.mapping.rules import flatten, to_text
from intake.record_files import MAX_WHOLE_BYTES, detect_kind, has_nan, open_record_file
from intake.strict_json import decode_strictly
from records.decoding import convert_plain

_ROWS = 200
_MAX_COLUMNS = 200
#: Members that a question has, but an object around a list of questions does not have.
_QUESTION_MEMBERS = frozenset({"question", "stem", "query", "prompt", "conversations"})
_MIN_MEMBERS = 3  # of a question: stem, answer and image
_MEMBER = re.compile(r"[^.\[\]?$@]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSample:
    """The first records of a file, their names, and the paths to their values, in the order of the file.

    ``input_settings`` describes how the file is read: where its records are, and whether it contains NaN.
    """

    names: tuple[int | str, ...]
    records: tuple[Any, ...]
    columns: tuple[str, ...]
    input_settings: Input = field(default_factory=Input)

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
    with closing(parse_in_process("intake.mapping.sample", path, {})) as results:
        error, input_settings, names, content = next(results)
    if error is not None:
        raise InvalidValue(*error)
    records = msgspec.json.decode(content)
    columns: dict[str, None] = {}
    for record in records:
        columns.update(dict.fromkeys(list_columns(record)))
    if not columns:
        raise InvalidValue("file", "has no records with named columns")
    return TableSample(
        names=tuple(names),
        records=tuple(records),
        columns=tuple(columns)[:_MAX_COLUMNS],
        input_settings=convert_plain(input_settings, Input),
    )


def list_columns(record: Any) -> list[str]:  # noqa: ANN401  # any JSON value
    """Return the paths to the values of a record: columns, members of objects, members of objects in lists.

    A column that begins with $ or @ is left out, because a path cannot name it.
    """
    if not isinstance(record, dict):
        return []
    paths = []
    for key, value in record.items():
        if not key.strip() or key.lstrip()[0] in "$@":
            continue
        first_item = value[0] if isinstance(value, list) and value else None
        if isinstance(value, dict) and any(len(name) > 1 for name in value):
            paths += [f"{key}.{name}" for name in value]
        elif isinstance(first_item, dict):
            paths += [f"{key}[*].{name}" for name in first_item]
        else:
            paths.append(key)
    return paths


def _read(options: dict[str, Any]) -> Iterator[Any]:
    path = Path(options["path"])
    try:
        input_settings = _describe_file(path)
        records = open_record_file(path, input_settings).read_records()
        named_records: list[tuple[int | str, bytes]] = []
        problem = InvalidValue("file", "has no records")
        for name, raw in islice(records, _ROWS):
            try:
                named_records.append((name, _check_record(raw)))
            except InvalidValue as error:
                problem = problem if problem.field != "file" else error
        if not named_records:
            raise problem
        content = b"[" + b",".join(raw for _, raw in named_records) + b"]"
        yield None, msgspec.to_builtins(input_settings), [name for name, _ in named_records], content
    except InvalidValue as error:
        yield (error.field, error.reason), {}, [], b""


def _check_record(raw: bytes | InvalidValue) -> bytes:
    if isinstance(raw, InvalidValue):
        raise raw
    decode_strictly(raw)
    return raw


def _describe_file(path: Path) -> Input:
    """Return how a JSON file is read; for other files, an empty description."""
    if detect_kind(path) != "json":
        return Input()
    return Input(records=_find_record_path(path), nan=has_nan(path))


def _find_record_path(path: Path) -> str | None:
    """Return the path of the questions in a JSON object that has one list of them: {"data": [...]}."""
    if path.stat().st_size > MAX_WHOLE_BYTES:
        return None
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None  # JSON Lines, or a file that is refused when it is read
    if not isinstance(content, dict) or any(isinstance(value, dict) for value in content.values()):
        return None
    if _QUESTION_MEMBERS & {key.casefold() for key in content}:
        return None
    lists = [key for key, value in content.items() if isinstance(value, list) and _are_questions(value)]
    return f"{lists[0]}[*]" if len(lists) == 1 and _MEMBER.fullmatch(lists[0]) else None


def _are_questions(items: list[Any]) -> bool:
    return bool(items) and all(isinstance(item, dict) and len(item) >= _MIN_MEMBERS for item in items)


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _read))
