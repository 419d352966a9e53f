"""The files of a report: HTML, JSON, methods, checklists, tables (CSV, LaTeX), figures (SVG, PDF, CSV).

The same report gives the same bytes, except for PDFs, whose converter writes font tables in random order.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from domain.errors import NotFound, Refused
from domain.table_cells import escape_formula
from measures.results import Record, to_records
from reader_study.report.checklists import build_checklists
from reader_study.report.figures import draw_figure, draw_figures
from reader_study.report.html import find_table_title, render_html
from reader_study.report.latex import records_to_latex
from reader_study.report.methods import render_methods
from reader_study.report.study_report import StudyReport
from reader_study.report.svg import convert_to_pdf


def render_text_files(report: StudyReport) -> dict[str, str]:
    """Return the content of all text files, by path within the folder."""
    files = {
        "report.html": render_html(report),
        "report.json": report.to_json(),
        "methods.txt": render_methods(report),
    }
    for name, records in report.to_records().items():
        files[f"tables/{name}.csv"] = records_to_csv(records)
        files[f"tables/{name}.tex"] = records_to_latex(records, caption=find_table_title(name))
    for name, items in build_checklists(report).items():
        files[f"checklists/{name}.csv"] = records_to_csv(to_records(items))
    for figure in draw_figures(report):
        files[f"figures/{figure.name}.svg"] = figure.svg
        files[f"figures/{figure.name}.csv"] = records_to_csv(to_records(figure.rows))
    return files


def render_pdfs(report: StudyReport) -> dict[str, bytes]:
    """Return each figure as a PDF file, by path within the folder."""
    return {f"figures/{figure.name}.pdf": convert_to_pdf(figure.svg) for figure in draw_figures(report)}


def render_pdf(report: StudyReport, path: str) -> bytes:
    """Return one figure as a PDF file.

    Raises:
        NotFound: the report has no such file.
    """
    name = path.removeprefix("figures/").removesuffix(".pdf")
    if path != f"figures/{name}.pdf":
        raise NotFound(f"This report has no file {path!r}.")
    return convert_to_pdf(draw_figure(report, name).svg)


def render_text_file(report: StudyReport, path: str) -> str:
    """Return the content of one text file, without computing the others.

    Raises:
        NotFound: the report has no such file.
    """
    folder, _, file = path.rpartition("/")
    name, _, extension = file.rpartition(".")
    if path == "report.html":
        return render_html(report)
    if path == "report.json":
        return report.to_json()
    if path == "methods.txt":
        return render_methods(report)
    if folder == "tables" and extension in ("csv", "tex") and name in (records := report.to_records()):
        if extension == "csv":
            return records_to_csv(records[name])
        return records_to_latex(records[name], caption=find_table_title(name))
    if folder == "checklists" and extension == "csv" and name in (checklists := build_checklists(report)):
        return records_to_csv(to_records(checklists[name]))
    if folder == "figures" and extension in ("svg", "csv"):
        figure = draw_figure(report, name)
        return figure.svg if extension == "svg" else records_to_csv(to_records(figure.rows))
    raise NotFound(f"This report has no file {path!r}.")


def records_to_csv(records: list[Record]) -> str:
    """Return the records as CSV. Undefined values are empty, and formulas in cells are escaped."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if records:
        writer.writerow(list(records[0]))
    writer.writerows([_to_cell(value) for value in record.values()] for record in records)
    return buffer.getvalue()


def write_report(report: StudyReport, folder: Path) -> tuple[str, ...]:
    """Write all files of a report.

    Args:
        report: the report.
        folder: the folder, which must be empty or not exist.

    Returns:
        The paths within the folder.

    Raises:
        Refused: the folder is not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"The folder {folder} is not empty. Choose another folder for the report.")
    texts = {path: text.encode() for path, text in render_text_files(report).items()}
    files = texts | render_pdfs(report)
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return tuple(files)


def _to_cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escape_formula(value) if isinstance(value, str) else value
