"""Reads the results of iMRMC and RJafroc for a study, and puts our results from the same scores beside them.

iMRMC writes a folder with ``AUCperReader.csv`` (each reader) and ``statAnalysis.csv`` (all readers); the
second modality of a row is NO_MOD if the row is not a difference. RJafroc's ``UtilOutputReport`` writes a
workbook with the worksheets Summary, FOMs and RRRC. Readers and modalities are the numbers or the names of
``ids.csv``.

Our values come from the scores that :mod:`reader_study.roc_files` exports; cases count as independent. Values
of one reader use DeLong's covariance. Values of all readers are U-statistics beside iMRMC. Beside RJafroc,
they use Obuchowski-Rockette's analysis with the covariance that the workbook names. Degrees of freedom are
Hillis'; iMRMC rounds them down for p and the interval.

Sources: the files of iMRMC 4.0.0; RJafroc's function UtilOutputReport.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from domain.errors import Refused
from measures.mrmc import Matrix
from measures.results import MrmcComparison
from measures.roc import AucFigures, compare_auc_of_arms, compute_aucs, mean_auc_of_readers
from reader_study.roc_files import RocStudy

MAX_BYTES = 5_000_000
_MAX_UNPACKED_BYTES = 50_000_000
_NO_MODALITY = "NO_MOD"
_PER_READER = ("readerID", "modalityA", "modalityB", "AUCA", "varAUCA", "AUCAminusAUCB", "varAUCAminusAUCB")
_ALL_READERS = (
    "modalityA", "modalityB", "UstatOrMLE", "AUCA", "varAUCA", "AUCAminusAUCB", "varAUCAminusAUCB",
    "dfHillis", "pValueHillis", "botCIHillis", "topCIHillis",
)  # fmt: skip
#: The names of RJafroc's columns of differences, in its current and its earlier versions.
_DIFFERENCE_COLUMNS = {
    "difference": ("Estimate",),
    "standard error": ("StdErr",),
    "degrees of freedom": ("DF",),
    "p": ("PrGTt", "Pr>t", "Pr > t"),
    "95% interval, low": ("CILower", "Lower"),
    "95% interval, high": ("CIUpper", "Upper"),
}
_EXPECTED_FILES = (
    "Choose AUCperReader.csv or statAnalysis.csv of iMRMC, or the workbook of RJafroc's UtilOutputReport."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RocResult:
    """One number of another program and our number.

    ``location`` is file and line (or worksheet and row). ``reader`` is "" for all readers; ``arm`` is a name,
    or two names with "minus". ``our_value`` is None if we have no such value; ``method`` states how our value
    was computed, or why it is missing.
    """

    location: str
    quantity: str
    reader: str
    arm: str
    our_value: float | None
    other_value: float
    method: str

    @property
    def difference(self) -> float | None:
        """Our value minus the other program's."""
        return None if self.our_value is None else self.our_value - self.other_value


class OurResults:
    """Our AUCs of a study's exported scores; readers and arms are indices into the lists of the study."""

    def __init__(self, study: RocStudy) -> None:
        self.study = study
        self._truth = np.array(study.truth, dtype=np.int64)
        self.scores: Matrix = np.full((len(study.arms), len(study.cases), len(study.readers)), np.nan)
        for rating in study.ratings:
            self.scores[rating.arm, rating.case, rating.reader] = rating.score

    @cached_property
    def figures(self) -> tuple[AucFigures, ...]:
        """The AUC of each reader, by arm."""
        return tuple(compute_aucs(self._truth, scores) for scores in self.scores)

    def estimate_mean(self, arm: int) -> MrmcComparison:
        """The mean AUC of the readers in one arm, by U-statistics."""
        return mean_auc_of_readers(self._truth, self.scores[arm])

    def compare_arms(self, arm: int, other: int, *, method: str, jackknife: bool = False) -> MrmcComparison:
        """The difference of two arms by the named method; its value is None if the method does not apply."""
        results = compare_auc_of_arms(self._truth, self.scores[arm], self.scores[other], jackknife=jackknife)
        match = next((result for result in results if result.method.startswith(method)), None)
        return match or MrmcComparison(
            readers=0,
            cases=0,
            difference=None,
            note=f"not computed: {method} needs every reader on every case",
        )


def read_roc_results(study: RocStudy, *, name: str, content: bytes) -> tuple[RocResult, ...]:
    """Read a file of another program and return its numbers beside ours.

    Raises:
        Refused: the file is not from one of these programs, or names a reader or arm that the study does not
            have. The message names file, line and column.
    """
    if len(content) > MAX_BYTES:
        raise Refused(f"{name} has {len(content):,} bytes, more than {MAX_BYTES:,}. {_EXPECTED_FILES}")
    our_results = OurResults(study)
    is_workbook = content.startswith(b"PK")
    results = tuple((_read_workbook if is_workbook else _read_table)(our_results, name, content))
    if not results:
        raise Refused(f"{name} contains no results. {_EXPECTED_FILES}")
    return results


# --------------------------------------------------------------------------------------------- iMRMC
def _read_table(our_results: OurResults, name: str, content: bytes) -> Iterator[RocResult]:
    try:
        table = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        columns = tuple(column.strip() for column in table.fieldnames or ())
        table.fieldnames = columns
        rows = [(table.line_num, row) for row in table]
    except (UnicodeDecodeError, csv.Error) as error:
        raise Refused(f"{name} is not a table in UTF-8 ({error}). {_EXPECTED_FILES}") from error
    needed = _PER_READER if "readerID" in columns else _ALL_READERS
    if missing := [column for column in needed if column not in columns]:
        raise Refused(f"{name}, line 1: the column {missing[0]} is missing. {_EXPECTED_FILES}")
    for line, row in rows:
        location = f"{name}, line {line}"
        if None in row or None in row.values():
            raise Refused(f"{location}: the line does not have {len(columns)} values. Export the file again.")
        yield from (_read_reader_row if needed is _PER_READER else _read_mean_row)(our_results, location, row)


def _read_reader_row(our_results: OurResults, location: str, row: dict[str, str]) -> Iterator[RocResult]:
    reader = _find_id(row["readerID"], our_results.study.readers, f"{location}, readerID", "reader")
    first, second = _find_arms(our_results, location, row)
    figures = our_results.figures[first]
    name, suffix, auc_column = "AUC", "", "AUCA"
    value, influence = figures.values[reader], figures.influence[:, reader]
    if second is not None:
        name, suffix, auc_column = "AUC difference", "of the difference", "AUCAminusAUCB"
        value = value - our_results.figures[second].values[reader]
        influence = influence - our_results.figures[second].influence[:, reader]
    auc = None if np.isnan(value) else float(value)
    se = None if auc is None else float(np.linalg.norm(influence))
    rows = (
        (name, auc, _read_number(row, auc_column, location), "empirical"),
        (
            f"standard error {suffix}".strip(),
            se,
            _read_standard_error(row, f"var{auc_column}", location),
            "DeLong",
        ),
    )
    for quantity, our_value, other_value, method in rows:
        if other_value is not None:
            yield RocResult(
                location=location, quantity=quantity, reader=our_results.study.readers[reader],
                arm=_name_arms(our_results, first, second), our_value=our_value, other_value=other_value,
                method=method if our_value is not None else "not defined: no positive or no negative case",
            )  # fmt: skip


def _read_mean_row(our_results: OurResults, location: str, row: dict[str, str]) -> Iterator[RocResult]:
    if row["UstatOrMLE"].strip() != "Ustat":
        raise Refused(
            f"{location}, UstatOrMLE: {row['UstatOrMLE']!r} is another analysis than ours. "
            "Choose statAnalysis.csv, which has the U-statistics."
        )
    first, second = _find_arms(our_results, location, row)
    column = "AUCA" if second is None else "AUCAminusAUCB"
    our_result = (
        our_results.estimate_mean(first)
        if second is None
        else our_results.compare_arms(first, second, method="U-statistic")
    )
    other_values = {
        "mean AUC" if second is None else "difference": _read_number(row, column, location),
        "standard error": _read_standard_error(row, f"var{column}", location),
        "degrees of freedom": _read_number(row, "dfHillis", location),
        "95% interval, low": _read_number(row, "botCIHillis", location),
        "95% interval, high": _read_number(row, "topCIHillis", location),
    }
    if second is not None:  # otherwise p tests an AUC of 0.5
        other_values["p"] = _read_number(row, "pValueHillis", location)
    yield from _build_mean_rows(our_result, other_values, location, _name_arms(our_results, first, second))


def _find_arms(our_results: OurResults, location: str, row: dict[str, str]) -> tuple[int, int | None]:
    first, second = (
        None
        if row[column].strip() == _NO_MODALITY
        else _find_arm(our_results, row[column], f"{location}, {column}")
        for column in ("modalityA", "modalityB")
    )
    if first is None:
        raise Refused(f"{location}, modalityA: there is no modality. Export the file again from iMRMC.")
    return first, second


def _read_standard_error(row: dict[str, str], column: str, location: str) -> float | None:
    variance = _read_number(row, column, location)
    if variance is not None and variance < 0:
        return None  # an unbiased variance may be below 0 and then has no standard error
    return None if variance is None else variance**0.5


def _read_number(row: dict[str, str], column: str, location: str) -> float | None:
    """Return the number in a column; None for NA."""
    text = row[column].strip()
    if text in ("NA", "NaN", ""):
        return None
    try:
        return float(text)
    except ValueError:
        raise Refused(f"{location}, {column}: {text!r} is not a number. Export the file again.") from None


# ------------------------------------------------------------------------------------------- RJafroc
def _read_workbook(our_results: OurResults, name: str, content: bytes) -> Iterator[RocResult]:
    sheets = _load_sheets(name, content)
    for sheet in ("Summary", "FOMs"):
        if sheet not in sheets:
            raise Refused(f"{name}: the worksheet {sheet} is missing. {_EXPECTED_FILES}")
    summary = sheets["Summary"]
    figure = _find_setting(summary, "FOM")
    if figure not in (None, "Wilcoxon"):
        raise Refused(
            f"{name}, worksheet Summary: the figure of merit is {figure}. "
            'Repeat the analysis with FOM = "Wilcoxon", which is the empirical AUC.'
        )
    input_ids = _read_input_ids(summary)
    yield from _read_figures(our_results, name, sheets["FOMs"], input_ids)
    is_jackknife = (_find_setting(summary, "Variability estimation") or "Jackknife") == "Jackknife"
    rows = sheets.get("RRRC", [])
    yield from _read_differences(our_results, name, rows, input_ids, jackknife=is_jackknife)


def _load_sheets(name: str, content: bytes) -> dict[str, list[tuple[Any, ...]]]:
    from openpyxl import load_workbook  # noqa: PLC0415 - only workbooks need it

    from intake.record_files import WORKBOOK_ERRORS  # noqa: PLC0415 - as above

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MAX_UNPACKED_BYTES:
                raise Refused(
                    f"{name} is larger than {_MAX_UNPACKED_BYTES:,} bytes unpacked. {_EXPECTED_FILES}"
                )
        workbook = load_workbook(io.BytesIO(content), data_only=True)
        return {sheet.title: list(sheet.values) for sheet in workbook.worksheets}
    except WORKBOOK_ERRORS as error:
        raise Refused(f"{name} is not a workbook that can be read ({error}). {_EXPECTED_FILES}") from error


def _find_setting(rows: Sequence[tuple[Any, ...]], label: str) -> str | None:
    """Return the value beside a label of the worksheet Summary."""
    for row in rows:
        if len(row) > 1 and isinstance(row[0], str) and row[0].startswith(label) and row[1] is not None:
            return str(row[1]).strip()
    return None


def _read_input_ids(rows: Sequence[tuple[Any, ...]]) -> dict[tuple[str, str], str]:
    """Return the ids of the input file by kind (Trt, Rdr) and id of the output file."""
    header = next(
        (
            index
            for index, row in enumerate(rows)
            if any(isinstance(cell, str) and "ID in output file" in cell for cell in row)
        ),
        None,
    )
    if header is None:
        return {}
    input_ids: dict[tuple[str, str], str] = {}
    for column, title in enumerate(rows[header]):
        if not isinstance(title, str) or "ID in output file" not in title:
            continue
        kind = "Rdr" if title.startswith("Reader") else "Trt"
        for row in rows[header + 1 :]:
            if len(row) <= column + 1 or row[column] is None or row[column + 1] is None:
                break
            input_ids[kind, _format_cell(row[column])] = _format_cell(row[column + 1])
    return input_ids


def _read_figures(
    our_results: OurResults,
    name: str,
    rows: Sequence[tuple[Any, ...]],
    input_ids: dict[tuple[str, str], str],
) -> Iterator[RocResult]:
    header = next((index for index, row in enumerate(rows) if any(_is_reader(cell) for cell in row)), None)
    if header is None:
        raise Refused(f"{name}, worksheet FOMs: no column is named Rdr - …. {_EXPECTED_FILES}")
    for index, row in enumerate(rows[header + 1 :], start=header + 2):
        if not isinstance(row[0], str) or not row[0].lower().startswith("trt"):
            continue
        location = f"{name}, FOMs, row {index}"
        arm = _find_output_id(our_results.study.arms, "Trt", row[0], input_ids, location)
        arm_name = _name_arms(our_results, arm, None)
        for title, value in zip(rows[header], row, strict=False):
            if not isinstance(value, int | float):
                continue
            if _is_reader(title):
                reader = _find_output_id(our_results.study.readers, "Rdr", title, input_ids, location)
                auc = our_results.figures[arm].values[reader]
                yield RocResult(
                    location=location, quantity="AUC", reader=our_results.study.readers[reader], arm=arm_name,
                    our_value=None if np.isnan(auc) else float(auc), other_value=float(value),
                    method="empirical",
                )  # fmt: skip
            elif title == "Rdr. Avg.":
                values = our_results.figures[arm].values[~np.isnan(our_results.figures[arm].values)]
                yield RocResult(
                    location=location, quantity="mean AUC", reader="", arm=arm_name,
                    our_value=float(values.mean()) if len(values) else None, other_value=float(value),
                    method="empirical",
                )  # fmt: skip


def _read_differences(
    our_results: OurResults,
    name: str,
    rows: Sequence[tuple[Any, ...]],
    input_ids: dict[tuple[str, str], str],
    *,
    jackknife: bool,
) -> Iterator[RocResult]:
    """Read the table below "…, treatment difference" of the worksheet RRRC.

    Current versions of RJafroc omit the names of the pairs; the rows then have the order 1-2, 1-3, 2-3.
    """
    header = next(
        (index for index, row in enumerate(rows) if {"Estimate", "StdErr"} <= set(row)),
        None,
    )
    if header is None:
        return
    titles = [str(title) for title in rows[header]]
    n_arms = len(our_results.study.arms)
    pairs = [(first, second) for first in range(n_arms) for second in range(first + 1, n_arms)]
    for position, row in enumerate(rows[header + 1 :]):
        values = dict(zip(titles, row, strict=False))
        if not isinstance(values["Estimate"], int | float):
            break
        location = f"{name}, RRRC, row {header + position + 2}"
        if "Difference" in values:
            first, second = _find_pair(our_results, str(values["Difference"]), input_ids, location)
        elif position < len(pairs):
            first, second = pairs[position]
        else:
            raise Refused(
                f"{location}: the study has {n_arms} arms, the workbook more. Export the study again."
            )
        cells = {
            quantity: next((values[column] for column in columns if column in values), None)
            for quantity, columns in _DIFFERENCE_COLUMNS.items()
        }
        other_values = {key: float(value) for key, value in cells.items() if isinstance(value, int | float)}
        our_result = our_results.compare_arms(
            first, second, method="Obuchowski-Rockette", jackknife=jackknife
        )
        yield from _build_mean_rows(
            our_result, other_values, location, _name_arms(our_results, first, second)
        )


def _find_pair(
    our_results: OurResults, text: str, input_ids: dict[tuple[str, str], str], location: str
) -> tuple[int, int]:
    """Return the arms of a difference such as "1-2" or "trt1-trt2"; names may contain hyphens."""
    parts = text.split("-")
    for index in range(1, len(parts)):
        try:
            return (
                _find_output_id(our_results.study.arms, "Trt", "-".join(parts[:index]), input_ids, location),
                _find_output_id(our_results.study.arms, "Trt", "-".join(parts[index:]), input_ids, location),
            )
        except Refused:
            continue
    raise Refused(
        f"{location}: {text!r} is not a difference of two arms of the study. Export the study again."
    )


def _find_output_id(
    names: Sequence[str], kind: str, text: str, input_ids: dict[tuple[str, str], str], location: str
) -> int:
    """Return the index in ``names`` of an id of the output file, such as "Trt - 1", "trt1" or "1"."""
    output_id = text.strip()
    if output_id.lower().startswith(kind.lower()):
        output_id = output_id[len(kind) :].strip().removeprefix("-").strip()
    noun = "reader" if kind == "Rdr" else "modality"
    return _find_id(input_ids.get((kind, output_id), output_id), names, location, noun)


def _is_reader(cell: object) -> bool:
    return isinstance(cell, str) and cell.lower().startswith("rdr") and cell != "Rdr. Avg."


def _format_cell(cell: object) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell).strip()


# -------------------------------------------------------------------------------------------- shared
def _build_mean_rows(
    our_result: MrmcComparison,
    other_values: dict[str, float | None] | dict[str, float],
    location: str,
    arm: str,
) -> Iterator[RocResult]:
    our_values = {
        "mean AUC": our_result.difference, "difference": our_result.difference,
        "standard error": our_result.se, "degrees of freedom": our_result.df, "p": our_result.p,
        "95% interval, low": our_result.low, "95% interval, high": our_result.high,
    }  # fmt: skip
    for quantity, value in other_values.items():
        if value is not None:
            our_value = our_values[quantity]
            yield RocResult(
                location=location, quantity=quantity, reader="", arm=arm, our_value=our_value,
                other_value=value,
                method=our_result.note if our_value is None else our_result.method,
            )  # fmt: skip


def _find_arm(our_results: OurResults, text: str, location: str) -> int:
    return _find_id(text, our_results.study.arms, location, "modality")


def _find_id(text: str, names: Sequence[str], location: str, noun: str) -> int:
    """Return the index in ``names`` of a name, or of a number of ``ids.csv``."""
    id_text = text.strip()
    if id_text in names and id_text:
        return names.index(id_text)
    if id_text.isdecimal() and 1 <= int(id_text) <= len(names):
        return int(id_text) - 1
    raise Refused(
        f"{location}: the study has no {noun} {id_text!r}. Expected is a number from 1 to {len(names)} or a "
        "name, as in ids.csv of the export. Export the study again and repeat the analysis."
    )


def _name_arms(our_results: OurResults, first: int, second: int | None) -> str:
    names = [
        our_results.study.arms[index] or "all readings" for index in (first, second) if index is not None
    ]
    return " minus ".join(names)
