"""Reads a CSV file of ratings or of boxes. An invalid table is refused, with the line number."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from domain.errors import Refused
from measures.ratings import OPTIONAL_COLUMNS, REQUIRED_COLUMNS

#: Maximum length of a field in characters.
MAX_FIELD_LENGTH = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """The columns that a file must have, and further known ones."""

    required: tuple[str, ...]
    optional: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All known columns."""
        return (*self.required, *self.optional)


RATINGS = TableLayout(required=REQUIRED_COLUMNS, optional=OPTIONAL_COLUMNS)


def read_ratings(path: Path) -> pd.DataFrame:
    """Read a CSV file of ratings, for :func:`measures.ratings.check_ratings`; see :func:`read_table`."""
    return read_table(path, RATINGS)[1]


def read_table(path: Path, *layouts: TableLayout) -> tuple[TableLayout, pd.DataFrame]:
    """Read a CSV file.

    The separator is the one of comma, semicolon and tab that is most frequent in the first line. The encoding
    is UTF-8, with or without a byte-order mark. Text is normalised to NFC. Blank lines are skipped.

    Args:
        path: the path of the file.
        layouts: the possible layouts. The file has the first layout whose required columns are in its first
            line, or else the last layout.

    Returns:
        The layout; and its columns as text, with the column ``line``: the line of the file, from 1, where the
        row begins. Unknown columns are left out.

    Raises:
        Refused: the file can't be read, is compressed, empty or not UTF-8, a line has too many or too few
            fields, or a known column occurs twice.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}") from error
    if raw.startswith((b"PK\x03\x04", b"\x1f\x8b")):
        raise Refused(f"{path}: the file is compressed; unpack it first")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise Refused(f"{path}, line {line}: this is not UTF-8. Save the table as CSV in UTF-8.") from error
    if "\x00" in text:
        line = text[: text.index("\x00")].count("\n") + 1
        raise Refused(f"{path}, line {line}: there is a zero byte. Save the table as CSV (plain text).")
    try:
        return _parse_table(text, layouts)
    except Refused as error:
        raise Refused(f"{path}, {error}") from error


def _parse_table(text: str, layouts: Sequence[TableLayout]) -> tuple[TableLayout, pd.DataFrame]:
    first_line = text.split("\n", 1)[0]
    separator = max(",;\t", key=first_line.count)
    csv.field_size_limit(MAX_FIELD_LENGTH)
    reader = csv.reader(
        io.StringIO(unicodedata.normalize("NFC", text), newline=""), delimiter=separator, strict=True
    )
    rows: list[list[str]] = []
    lines: list[int] = []
    names: list[str] = []
    last_line = 0
    layout = layouts[-1]
    try:
        for row in reader:
            line, last_line = last_line + 1, reader.line_num
            if not any(field.strip() for field in row):
                continue
            if not names:
                names = [field.strip().lower() for field in row]
                layout = next(
                    (candidate for candidate in layouts if set(candidate.required) <= set(names)), layout
                )
                _check_header(names, line, layout)
            elif len(row) != len(names):
                raise Refused(f"line {line}: {len(row)} fields, but the first line has {len(names)} columns")
            else:
                rows.append(row)
                lines.append(line)
    except csv.Error as error:
        raise Refused(f"line {last_line + 1}: {error}") from error
    if not names:
        raise Refused(
            f"line 1: the file is empty. Required columns: {', '.join(layout.required)}; "
            f"optional: {', '.join(layout.optional)}."
        )
    table = pd.DataFrame(rows, columns=names, dtype=object)
    return layout, table[[name for name in names if name in layout.columns]].assign(line=lines)


def _check_header(names: list[str], line: int, layout: TableLayout) -> None:
    duplicates = {name for name in names if name in layout.columns and names.count(name) > 1}
    if duplicates:
        raise Refused(f"line {line}: the column {', '.join(sorted(duplicates))} occurs twice")
