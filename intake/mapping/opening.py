"""Opens a file with a mapping. Checks that the columns exist, and reads the second files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from domain.errors import InvalidValue
from intake.containers import Container, QuestionFile, RawRecord
from intake.mapping.declaration import Input, Mapping, load_mapping, suggest
from intake.mapping.paths import follow
from intake.mapping.reader import MappingReader
from intake.record_files import RecordFile, detect_kind, open_record_file, read_rows, resolve_second_file
from intake.record_reader import OpenedFile

__all__ = ["OpenedFile", "detect_mapped_container", "open_mapped_file", "open_report_table"]

#: A column must occur in at least one of this many records; most columns occur in all of them.
_RECORDS_TRIED = 100


def detect_mapped_container(path: Path, input_settings: Input) -> Container:
    """Return the structure of a file that a mapping reads, from its first bytes.

    Raises:
        InvalidValue: the file is empty, or its structure is not supported.
    """
    if path.is_dir():
        return Container.MEMBERS
    kind = input_settings.kind or detect_kind(path)
    if kind in ("coco", "label-studio"):
        return Container.ARRAY
    if kind != "json":
        return Container.ROWS
    return Container.ARRAY if input_settings.records else QuestionFile(path).detect_container()


def open_mapped_file(path: Path, mapping: Mapping, file_stem: str) -> OpenedFile:
    """Open a file for one pass, and read its second files.

    Raises:
        InvalidValue: a file can't be read, the mapping is for reports, or a column that the mapping names is
            missing. The error names the mapping file and the line.
    """
    if mapping.content.input.table is not None:
        raise mapping.error(("input", "table"), "is for reports, from which questions are generated")
    file, records, reader = _open(path, mapping, file_stem)
    return OpenedFile(records=records, reader=reader, count_bytes=lambda: file.bytes_read)


def open_report_table(mapping_path: Path) -> tuple[Path, Iterator[RawRecord], MappingReader]:
    """Open the table of reports that a mapping file names, for one pass.

    Returns:
        The path of the table, its records and their reader.

    Raises:
        InvalidValue: as :func:`open_mapped_file`, or the mapping names no table.
    """
    try:
        mapping = load_mapping(mapping_path.read_text(encoding="utf-8-sig"), mapping_path.name)
    except UnicodeDecodeError as error:
        raise InvalidValue(mapping_path.name, f"is not UTF-8: {error.reason}") from error
    if mapping.content.input.table is None:
        raise mapping.error(("input",), 'names no table of reports; add table = "reports.csv"')
    try:
        path = resolve_second_file(mapping_path, mapping.content.input.table)
    except InvalidValue as error:
        raise mapping.error(("input", "table"), error.reason) from None
    _, records, reader = _open(path, mapping, path.stem)
    return path, records, reader


def _open(
    path: Path, mapping: Mapping, file_stem: str
) -> tuple[RecordFile, Iterator[RawRecord], MappingReader]:
    file = open_record_file(path, mapping.content.input)
    records = file.read_records(_list_root_columns(mapping))
    first_records = list(islice(records, _RECORDS_TRIED))
    _check_columns(mapping, file.columns, [raw for _, raw in first_records if isinstance(raw, bytes)])
    joined = {name: _read_joined_rows(path, mapping, name) for name in mapping.content.join}
    return file, chain(first_records, records), MappingReader(mapping, file_stem, joined)


def _list_root_columns(mapping: Mapping) -> set[str]:
    """Return the columns of a table that the mapping needs: each complete path, and its first part."""
    columns = set()
    for _, path in mapping.list_paths():
        if not path.root:
            columns |= {*path.columns, str(path.steps[0])}
    return columns


def _check_columns(mapping: Mapping, columns: list[str] | None, raw_records: list[bytes]) -> None:
    records: list[Any] = []
    for raw in raw_records:
        try:
            records.append(msgspec.json.decode(raw))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue  # the record is refused with the reason when it is read
    if not records:
        return
    known_columns = columns or sorted(
        {key for record in records if isinstance(record, dict) for key in record}
    )
    for keys, path in mapping.list_paths():
        if path.root or path.optional or any(follow(record, path) for record in records):
            continue
        if columns is not None and path.text in columns:
            continue
        listed = (
            f"the columns are {', '.join(known_columns[:30])}" if known_columns else "the records are lists"
        )
        suggestion = suggest(path.text, known_columns)
        reason = (
            f"{path.text!r} is not in the file; {listed}.{suggestion} "
            f"Correct it, or write {path.text + '?'!r} if most records lack it"
        )
        if not suggestion:
            reason += f", or {{ value = {json.dumps(path.text)} }} for the same text in each record"
        raise mapping.error(keys, reason)


def _read_joined_rows(path: Path, mapping: Mapping, name: str) -> dict[str, Any]:
    join = mapping.content.join[name]
    rows: dict[str, Any] = {}
    try:
        for key, row in read_rows(resolve_second_file(path, join.file), join.key):
            if join.many:
                rows.setdefault(key, []).append(row)
            elif key in rows:
                raise InvalidValue("key", f"{key!r} occurs twice in {join.file}; set many = true")
            else:
                rows[key] = row
    except InvalidValue as error:
        raise mapping.error(("join", name, error.field), error.reason) from None
    return rows
