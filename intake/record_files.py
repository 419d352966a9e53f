"""The files that a mapping reads, record by record: JSON, tables (CSV, XLSX, Parquet), folders of JSON.

Every record is yielded as the bytes of a JSON value, so that all files are processed in the same way.
"""

from __future__ import annotations

import csv
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from io import TextIOWrapper
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import msgspec

from domain.errors import InvalidValue
from intake.annotation_files import read_coco, read_label_studio
from intake.containers import Container, QuestionFile, RawRecord, refuse_encoding
from intake.mapping.declaration import Input
from intake.mapping.paths import follow, parse_path
from intake.strict_json import MAX_RECORD_BYTES, decode_strictly

#: The maximum size of a JSON file that must be read as a whole, because its records are nested.
MAX_WHOLE_BYTES = 64 << 20
#: What openpyxl raises for a workbook that is damaged, encrypted or has unexpected contents. The errors of
#: its XML parsers are syntax errors.
WORKBOOK_ERRORS = (
    zipfile.BadZipFile, zlib.error, SyntaxError, KeyError, IndexError, AttributeError, TypeError, ValueError,
    RuntimeError, EOFError, OSError,
)  # fmt: skip
_ROWS_PER_BATCH = 1_000
_ANNOTATION_READERS = {"coco": read_coco, "label-studio": read_label_studio}
_DELIMITERS = ",;\t|"
_MEMBER_NAME = re.compile(r"(?P<file>.+)\.json: record (?P<number>\d+)", re.DOTALL)
_FORMULA = re.compile(rb"<f[ >/]")
_MERGED = re.compile(rb'<mergeCell [^>]*?ref="([A-Z]{1,3})([0-9]{1,7}):[A-Z]{1,3}([0-9]{1,7})"')
#: The header of a table is in one of this many rows; titles may be above it.
_HEADER_ROWS = 10
_NAN = re.compile(rb"(?<=[:\[,\s])NaN(?=\s*[,}\]])")


@dataclass(slots=True)
class RecordFile:
    """A file that is read once from the beginning. The progress is ``bytes_read`` of ``size``.

    ``columns`` are the columns of a table, in their order; None for JSON.
    """

    container: Container
    size: int
    columns: list[str] | None
    _read: Callable[[RecordFile, list[str] | None], Iterator[RawRecord]]
    bytes_read: int = field(default=0)

    def read_records(self, columns: Iterable[str] | None = None) -> Iterator[RawRecord]:
        """Read the records. From a Parquet file, read only the given columns; None for all."""
        return self._read(self, None if columns is None else list(columns))


def open_record_file(path: Path, layout: Input) -> RecordFile:
    """Open the file that a mapping reads.

    Args:
        path: the file, or a folder if the mapping names files in it.
        layout: the description of the file in the mapping.

    Raises:
        InvalidValue: the file does not match its description in the mapping, or can't be read.
    """
    if path.is_dir():
        return _open_folder(path, layout)
    if layout.files:
        raise InvalidValue("file", f"must be a folder: the mapping reads its files {layout.files}")
    kind = layout.kind or detect_kind(path)
    if kind == "parquet":
        return _open_parquet(path)
    if kind == "xlsx":
        return _open_workbook(path, layout)
    if kind in ("csv", "tsv"):
        return _open_csv(path, layout, "\t" if kind == "tsv" else None)
    if kind in _ANNOTATION_READERS:
        return _open_annotations(path, kind)
    if layout.records:
        return _open_whole_json(path, layout)
    file = QuestionFile(path)
    container = file.detect_container()

    def read(record_file: RecordFile, _columns: list[str] | None) -> Iterator[RawRecord]:
        for name, raw in file.read_records(container):
            record_file.bytes_read = file.bytes_read
            yield name, _NAN.sub(b"null", raw) if layout.nan and isinstance(raw, bytes) else raw

    return RecordFile(container, path.stat().st_size, None, read)


def detect_kind(path: Path) -> str:
    """Return the kind of a file from its content: parquet, xlsx, json, tsv or csv.

    Raises:
        InvalidValue: the file is empty, compressed, UTF-16, or an old workbook (.xls).
    """
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"PK\x03\x04"):
        return "xlsx"
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise InvalidValue("file", "is a workbook in the old Excel format (.xls); save it as .xlsx")
    if not head.strip():
        raise InvalidValue("file", "is empty")
    refuse_encoding(head)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"{", b"["):
        return "json"
    first_line = text.split(b"\n", 1)[0]
    return "tsv" if first_line.count(b"\t") > first_line.count(b",") else "csv"


def has_nan(path: Path) -> bool:
    """Whether a JSON file contains NaN, which pandas writes for a missing value."""
    with path.open("rb") as file:
        tail = b""
        while chunk := file.read(1 << 20):
            if _NAN.search(tail + chunk):
                return True
            tail = chunk[-64:]
    return False


def split_member_name(name: str) -> tuple[str, str] | None:
    """Split the name of a record in a folder of files into (file name without extension, record number).

    Return None for other names.
    """
    match = _MEMBER_NAME.fullmatch(name)
    return (PurePosixPath(match["file"]).name, match["number"]) if match else None


def resolve_second_file(path: Path, name: str) -> Path:
    """Return the path of a second file, which must be below the folder of the file that names it.

    Raises:
        InvalidValue: the path leads outside the folder, or the file does not exist.
    """
    folder = path if path.is_dir() else path.parent
    relative_path = PurePosixPath(name)
    target = (folder / relative_path).resolve()
    if (
        relative_path.is_absolute()
        or ".." in relative_path.parts
        or not target.is_relative_to(folder.resolve())
    ):
        raise InvalidValue("file", f"{name!r} must be below the folder of the file that names it")
    if not target.is_file():
        raise InvalidValue("file", f"{name!r} is not in the folder of the file that names it")
    return target


def read_rows(path: Path, key: str | None) -> Iterator[tuple[str, Any]]:
    """Yield (key, row) for each row of a second file, which is read as a whole.

    Args:
        path: the second file.
        key: the column with the keys; None if the file is a JSON object of rows by key.

    Raises:
        InvalidValue: the file can't be read, or a row has no key.
    """
    if key is None:
        members = _load_whole(path, allow_nan=False)
        if not isinstance(members, dict):
            raise InvalidValue("key", "is missing; only a JSON object of rows needs no key")
        yield from members.items()
        return
    parsed_key = parse_path(key)
    for name, raw in open_record_file(path, Input()).read_records():
        if isinstance(raw, InvalidValue):
            raise raw
        row = msgspec.json.decode(raw)
        values = follow(row, parsed_key)
        if not values or values[0] in (None, ""):
            raise InvalidValue("key", f"{key!r} is empty in {path.name}, {name}")
        yield str(values[0]).strip(), row


def _encode(value: Any) -> bytes:  # noqa: ANN401  # any row of a table
    return msgspec.json.encode(value, enc_hook=str)


# ---------------------------------------------------------------------------------------------------- JSON
def _open_folder(folder: Path, layout: Input) -> RecordFile:
    if not layout.files:
        raise InvalidValue("file", "is a folder; choose a file, or a mapping that reads a folder")
    pattern = PurePosixPath(layout.files)
    if pattern.is_absolute() or ".." in pattern.parts:
        raise InvalidValue("input.files", f"{layout.files!r} must be below the folder")
    paths = sorted(path for path in folder.glob(layout.files) if path.is_file())
    if not paths:
        raise InvalidValue("file", f"the folder has no files {layout.files}")

    def read(record_file: RecordFile, _columns: list[str] | None) -> Iterator[RawRecord]:
        for path in paths:
            name = path.relative_to(folder).as_posix()
            try:
                records = _find_records(path, layout)
            except InvalidValue as error:
                yield name, error
                continue
            record_file.bytes_read += path.stat().st_size
            for number, record in enumerate(records, start=1):
                yield f"{name}: record {number}", _encode(record)

    return RecordFile(Container.MEMBERS, sum(path.stat().st_size for path in paths), None, read)


def _open_whole_json(path: Path, layout: Input) -> RecordFile:
    def read(record_file: RecordFile, _columns: list[str] | None) -> Iterator[RawRecord]:
        for number, record in enumerate(_find_records(path, layout), start=1):
            yield number, _encode(record)
        record_file.bytes_read = record_file.size

    return RecordFile(Container.ARRAY, path.stat().st_size, None, read)


def _open_annotations(path: Path, kind: str) -> RecordFile:
    records = _ANNOTATION_READERS[kind](_load_whole(path, allow_nan=False))

    def read(record_file: RecordFile, _columns: list[str] | None) -> Iterator[RawRecord]:
        for number, record in enumerate(records, start=1):
            yield number, record if isinstance(record, InvalidValue) else _encode(record)
        record_file.bytes_read = record_file.size

    return RecordFile(Container.ARRAY, path.stat().st_size, None, read)


def _find_records(path: Path, layout: Input) -> list[Any]:
    content = _load_whole(path, allow_nan=layout.nan)
    if layout.records:
        records = follow(content, parse_path(layout.records))
        if not records:
            raise InvalidValue("input.records", f"{layout.records!r} matches no record in {path.name}")
        return records
    return content if isinstance(content, list) else [content]


def _load_whole(path: Path, *, allow_nan: bool) -> Any:  # noqa: ANN401  # any JSON value
    size = path.stat().st_size
    if size > MAX_WHOLE_BYTES:
        advice = f"the maximum for a nested JSON file is {MAX_WHOLE_BYTES >> 20} MB; convert it to JSON Lines"
        raise InvalidValue("file", f"{path.name} has {size >> 20:,} MB; {advice}")
    raw = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    return decode_strictly(_NAN.sub(b"null", raw) if allow_nan else raw)


# --------------------------------------------------------------------------------------------------- tables
def _open_csv(path: Path, layout: Input, delimiter: str | None) -> RecordFile:
    delimiter = layout.delimiter or delimiter or _detect_delimiter(path)
    csv.field_size_limit(MAX_RECORD_BYTES)
    with closing(_read_cells(path, delimiter, layout, None)) as first_rows:
        header_number, header = _find_header(first_rows)
    if not any(header):
        raise InvalidValue("file", "has no header: its first row is empty")
    columns = layout.columns or _name_columns(header)

    def read(record_file: RecordFile, _columns: list[str] | None) -> Iterator[RawRecord]:
        with closing(_read_cells(path, delimiter, layout, record_file)) as rows:
            for number, cells in rows:
                if isinstance(cells, InvalidValue):
                    yield number, cells
                elif layout.columns is None and number <= header_number:
                    continue
                elif len(cells) != len(columns):
                    reason = f"has {len(cells)} cells, but there are {len(columns)} columns"
                    if any("\n" in cell for cell in cells):  # a cell that swallowed the following rows
                        reason += "; is a quotation mark missing?"
                    yield number, InvalidValue("record", reason)
                else:
                    yield number, _encode(dict(zip(columns, cells, strict=True)))

    return RecordFile(Container.ROWS, path.stat().st_size, columns, read)


def _read_cells(
    path: Path, delimiter: str, layout: Input, record_file: RecordFile | None
) -> Generator[tuple[int, list[str] | InvalidValue], None, None]:
    """Yield (row number from 1, cells) of a text table. Empty rows are skipped."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quotes else csv.QUOTE_NONE
    with path.open("rb") as binary, TextIOWrapper(binary, encoding="utf-8-sig", newline="") as text:
        rows = csv.reader(text, delimiter=delimiter, quoting=quoting)
        number = 0
        while True:
            number += 1
            try:
                cells = next(rows)
            except StopIteration:
                return
            except UnicodeDecodeError:
                reason = "is not UTF-8; save the file as “CSV UTF-8”, or import the workbook itself"
                yield number, InvalidValue("encoding", reason)
                return
            except csv.Error as error:
                yield number, InvalidValue("record", f"can't be read: {error}; is a quotation mark missing?")
                return
            if record_file is not None:
                record_file.bytes_read = binary.tell()
            if any(cells):
                yield number, cells


def _detect_delimiter(path: Path) -> str:
    with path.open("rb") as file:
        line = file.readline(1 << 16).decode("utf-8", errors="replace")
    return max(_DELIMITERS, key=lambda delimiter: (line.count(delimiter), -_DELIMITERS.index(delimiter)))


def _find_header(rows: Iterable[tuple[int, list[Any] | InvalidValue]]) -> tuple[int, list[Any]]:
    """Return (row number, cells) of the header: the first row with two names or more.

    Rows with one text above it are titles. If no row has two texts, the first row is the header.

    Raises:
        InvalidValue: the first row can't be read.
    """
    first_row: tuple[int, list[Any]] = (0, [])
    for number, cells in islice(rows, _HEADER_ROWS):
        if isinstance(cells, InvalidValue):
            if not first_row[1]:
                raise cells
            break
        if sum(cell not in (None, "") for cell in cells) > 1:
            return number, cells
        first_row = first_row if first_row[1] else (number, cells)
    return first_row


def _name_columns(cells: Iterable[Any]) -> list[str]:
    columns = [
        str(cell).strip() if cell not in (None, "") else f"column {number}"
        for number, cell in enumerate(cells, start=1)
    ]
    for column in columns:
        if columns.count(column) > 1:
            raise InvalidValue("header", f"{column!r} occurs twice; give each column a unique name")
    return columns


def _open_workbook(path: Path, layout: Input) -> RecordFile:
    header_number, header = _find_header(_read_sheet(path, layout))
    columns = layout.columns or _name_columns(header)
    if not columns:
        raise InvalidValue("file", "has no header: the sheet is empty")

    def read(record_file: RecordFile, column_names: list[str] | None) -> Iterator[RawRecord]:
        formulas = dict(_read_sheet(path, layout, formulas=True)) if _has_formulas(path) else {}
        for number, cells in _read_sheet(path, layout):
            if layout.columns is None and number <= header_number:
                continue
            extra_cells = cells[len(columns) :]
            record = dict(zip(columns, cells, strict=False))
            if any(cell is not None for cell in extra_cells):
                yield number, InvalidValue("record", f"has more cells than the {len(columns)} columns")
                continue
            try:
                _check_cells(record, dict(zip(columns, formulas.get(number, ()), strict=False)), column_names)
            except InvalidValue as error:
                yield number, error
            else:
                yield number, _encode(record)
        record_file.bytes_read = record_file.size

    return RecordFile(Container.ROWS, path.stat().st_size, columns, read)


def _check_cells(
    record: Mapping[str, Any], formulas: Mapping[str, Any], column_names: list[str] | None
) -> None:
    """Check the cells of a row in the columns ``column_names``; None for all columns.

    Raises:
        InvalidValue: a cell has an error of the spreadsheet, or a formula without its result.
    """
    from openpyxl.cell.cell import ERROR_CODES  # noqa: PLC0415 - only workbooks need it

    for column, cell in record.items():
        if column_names is not None and column not in column_names:
            continue
        if cell in ERROR_CODES:
            raise InvalidValue(column, f"is {cell}, an error of the spreadsheet; correct the cell")
        if cell is None and formulas.get(column) is not None:
            raise InvalidValue(
                column,
                f"has the formula {str(formulas[column])[:60]!r} without its result; open the workbook in a "
                "spreadsheet program and save it, or replace formulas by values",
            )


def _has_formulas(path: Path) -> bool:
    """Whether a sheet of a workbook has a formula; openpyxl reads either results or formulas."""
    try:
        with zipfile.ZipFile(path) as archive:
            sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
            return any(_contains_formula(archive, name) for name in sheets)
    except WORKBOOK_ERRORS as error:
        raise InvalidValue("file", f"is not a workbook that can be read: {error}") from None


def _contains_formula(archive: zipfile.ZipFile, name: str) -> bool:
    with archive.open(name) as sheet:
        tail = b""
        while chunk := sheet.read(1 << 20):
            if _FORMULA.search(tail + chunk):
                return True
            tail = chunk[-3:]
    return False


def _read_sheet(path: Path, layout: Input, *, formulas: bool = False) -> Iterator[tuple[int, list[Any]]]:
    """Yield (row number from 1, cells) of a sheet, with formulas or their results. Empty rows are skipped.

    Cells that are merged downwards have the same value in each of their rows.
    """
    from openpyxl import load_workbook  # noqa: PLC0415 - only workbooks need it

    try:
        with path.open("rb") as file:
            workbook = load_workbook(file, read_only=True, data_only=not formulas)
            names = workbook.sheetnames
            if layout.sheet and layout.sheet not in names:
                raise InvalidValue("input.sheet", f"{layout.sheet!r} is not one of {', '.join(names)}")
            sheet: Any = workbook[layout.sheet or names[0]]  # openpyxl does not declare the path of its file
            merged_columns = _find_merged_cells(path, sheet._worksheet_path)
            repeated_values: dict[int, tuple[int, Any]] = {}
            for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                if not any(cell is not None for cell in row):
                    continue
                cells = list(row)
                for column, last_row in merged_columns.get(number, ()):
                    repeated_values[column] = last_row, cells[column] if column < len(cells) else None
                for column, (last_row, value) in repeated_values.items():
                    if number <= last_row and column < len(cells) and cells[column] is None:
                        cells[column] = value
                yield number, cells
    except InvalidValue:
        raise
    except WORKBOOK_ERRORS as error:
        raise InvalidValue("file", f"is not a workbook that can be read: {error}") from None


def _find_merged_cells(path: Path, sheet: str) -> dict[int, list[tuple[int, int]]]:
    """Return (column index, last row) of the cells that are merged downwards, by their first row.

    Args:
        path: the workbook.
        sheet: the name of the sheet's file in it.
    """
    from openpyxl.utils import column_index_from_string  # noqa: PLC0415 - only workbooks need it

    merged = defaultdict[int, list[tuple[int, int]]](list)
    with zipfile.ZipFile(path) as archive, archive.open(sheet.lstrip("/")) as file:
        tail = b""
        while chunk := file.read(1 << 20):
            window = tail + chunk
            position = 0
            for match in _MERGED.finditer(window):
                position = match.end()
                first_row, last_row = int(match[2]), int(match[3])
                if last_row > first_row:
                    merged[first_row].append((column_index_from_string(match[1].decode()) - 1, last_row))
            tail = window[max(position, len(window) - 100) :]
    return merged


def _open_parquet(path: Path) -> RecordFile:
    from pyarrow import ArrowInvalid, parquet  # noqa: PLC0415 - only Parquet files need it

    try:
        table = parquet.ParquetFile(path)
    except ArrowInvalid as error:
        raise InvalidValue("file", f"is not a Parquet file that can be read: {error}") from None
    columns = list(table.schema_arrow.names)

    def read(record_file: RecordFile, column_names: list[str] | None) -> Iterator[RawRecord]:
        number = 0
        used_columns = (
            None if column_names is None else [column for column in columns if column in column_names]
        )
        for batch in table.iter_batches(batch_size=_ROWS_PER_BATCH, columns=used_columns, use_threads=False):
            for row in batch.to_pylist():
                number += 1
                yield number, _encode(_without_bytes(row))
            record_file.bytes_read = record_file.size * number // max(1, table.metadata.num_rows)

    return RecordFile(Container.ROWS, path.stat().st_size, columns, read)


def _without_bytes(value: Any) -> Any:  # noqa: ANN401  # a cell; the bytes of images are not part of a question
    if isinstance(value, dict):
        return {key: _without_bytes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_bytes(item) for item in value]
    return None if isinstance(value, bytes) else value
