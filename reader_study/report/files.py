"""The files of a report: HTML, JSON, a CSV of each table, an SVG and a CSV of each figure.

The same report gives the same bytes.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from domain.errors import NotFound, Refused
from domain.table_cells import harmless
from measures.results import Record, to_records
from reader_study.report.figures import figure_of, figures_of
from reader_study.report.html import html_of
from reader_study.report.study_report import StudyReport


def files_of(report: StudyReport) -> dict[str, str]:
    """The content of all files, by path within the folder."""
    files = {
        "report.html": html_of(report),
        "report.json": report.text(),
        **{f"tables/{name}.csv": csv_of(records) for name, records in report.records().items()},
    }
    for figure in figures_of(report):
        files[f"figures/{figure.name}.svg"] = figure.svg
        files[f"figures/{figure.name}.csv"] = csv_of(to_records(figure.rows))
    return files


def file_of(report: StudyReport, path: str) -> str:
    """The content of one file; the other files are not computed.

    Raises:
        NotFound: the report has no such file.
    """
    folder, _, file = path.rpartition("/")
    name, _, ending = file.rpartition(".")
    if path == "report.html":
        return html_of(report)
    if path == "report.json":
        return report.text()
    if folder == "tables" and ending == "csv" and name in (records := report.records()):
        return csv_of(records[name])
    if folder == "figures" and ending in ("svg", "csv"):
        figure = figure_of(report, name)
        return figure.svg if ending == "svg" else csv_of(to_records(figure.rows))
    raise NotFound(f"This report has no file {path!r}.")


def csv_of(records: list[Record]) -> str:
    """The records as CSV; undefined values are empty, and cells are protected against formulas."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    if records:
        rows.writerow(list(records[0]))
    rows.writerows([_cell(value) for value in each.values()] for each in records)
    return written.getvalue()


def write_report(report: StudyReport, folder: Path) -> tuple[str, ...]:
    """Write all files of a report.

    Args:
        report: the report.
        folder: to create, or empty.

    Returns:
        The paths within the folder.

    Raises:
        Refused: the folder is not empty.
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
