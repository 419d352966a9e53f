"""The files of a report: HTML, JSON, one CSV a table, one SVG a figure; the same report, the same bytes."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from domain.errors import Refused
from domain.table_cells import harmless
from reader_study.report.figures import figures_of
from reader_study.report.html import html_of
from reader_study.report.whole import StudyReport


def files_of(report: StudyReport) -> dict[str, str]:
    """Content by path within the folder."""
    return {
        "report.html": html_of(report),
        "report.json": report.text(),
        **{f"tables/{name}.csv": csv_of(records) for name, records in report.tables.items()},
        **{f"figures/{name}.svg": svg for name, svg in figures_of(report).items()},
    }


def csv_of(records: list[dict[str, Any]]) -> str:
    """The records as CSV; an undefined value is empty, and no cell is run as a formula."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    if records:
        rows.writerow(list(records[0]))
    rows.writerows([_cell(value) for value in each.values()] for each in records)
    return written.getvalue()


def write_report(report: StudyReport, folder: Path) -> tuple[str, ...]:
    """Write all of it into a folder that is not there or empty; the paths written.

    Raises:
        Refused: something is in the folder.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} is there and not empty. Name another folder for the report.")
    written = files_of(report)
    for path, content in written.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8", newline="\n")
    return tuple(written)


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return harmless(value) if isinstance(value, str) else value
