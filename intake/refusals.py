"""Writes the list of refused records as a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from domain.problems import Refusal
from domain.table_cells import escape_formula
from intake.reports import MAX_SHOWN_REFUSALS


class _Writer(Protocol):
    def writerow(self, row: list[str], /) -> object: ...


class RefusalList:
    """Counts and writes all refusals, and keeps the first ones in memory."""

    def __init__(self, writer: _Writer, file_name: str) -> None:
        """``file_name`` is the name of the question file."""
        self._writer, self._file_name = writer, file_name
        self.count = 0
        self.first_refusals: list[Refusal] = []

    def add(self, record: str, field: str, reason: str) -> None:
        refusal = Refusal(file=self._file_name, record=record, field=field, reason=reason)
        if self.count < MAX_SHOWN_REFUSALS:
            self.first_refusals.append(refusal)
        self.count += 1
        self._writer.writerow([escape_formula(cell) for cell in (refusal.file, record, field, reason)])


@contextmanager
def open_refusal_list(path: Path, file_name: str) -> Iterator[RefusalList]:
    """Open a list that is written to ``path``. If the list is empty at the end, the file is deleted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # backslashreplace, because the key of a refused record may contain half of a surrogate pair
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "record", "field", "reason"])
        refusals = RefusalList(writer, file_name)
        try:
            yield refusals
        finally:
            if refusals.count == 0:
                path.unlink()
