"""Reads CSV tables of a source, plain or compressed with gzip, with messages that name file and line."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path

from domain.errors import InvalidValue


def read_csv(path: Path, *, required: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line number, row) of a CSV file in UTF-8. Missing cells are empty texts.

    Args:
        path: the file; gzip if its name ends with ``.gz``.
        required: columns that the file must have.

    Raises:
        InvalidValue: a required column is missing, or the file is not UTF-8 or not CSV.
    """
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = raw.decode("utf-8-sig")
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise InvalidValue("file", f"{path.name} cannot be read as UTF-8 text: {error}") from error
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        missing_columns = [name for name in required if name not in (reader.fieldnames or ())]
        if missing_columns:
            raise InvalidValue("columns", f"{path.name} has no column {missing_columns[0]!r}")
        for row in reader:
            yield reader.line_num, {name: value or "" for name, value in row.items() if isinstance(name, str)}
    except csv.Error as error:
        raise InvalidValue("file", f"{path.name}, line {reader.line_num}: {error}") from error


def find_table(folder: Path, stem: str) -> Path | None:
    """Return ``stem.csv`` or ``stem.csv.gz`` in a folder; None if there is neither."""
    return next(
        (path for path in (folder / f"{stem}.csv", folder / f"{stem}.csv.gz") if path.is_file()), None
    )
