"""``cli.py counts``: statistics of published counts, percentages or p values. It needs no workspace.

The columns of the file determine what is computed.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, TypeVar

import numpy as np

from commands.arguments import Subparsers
from domain.errors import InvalidValue, Refused
from measures.agreement import CONFIDENCE
from measures.count_tables import (
    ComparisonP,
    DiagnosticTable,
    PairedTable,
    adjust_comparisons,
    measure_diagnostic_table,
    measure_paired_table,
)
from measures.counts import Count, count_from_percent, measure_counts
from measures.results import Record, tables_to_records, to_record, to_records
from measures.strata import stratified_mean

Row = TypeVar("Row")
_COLUMNS_TEXT = "rater, n, correct or percent, and task if there are several"


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "counts",
        description=f"Read a CSV file with the columns {_COLUMNS_TEXT}, one line per rater and task. Print "
        "Wilson intervals, micro and macro means, and the difference of each pair of raters with the same n "
        "as a range, because the pairing of correct answers is not known. Other columns give other results. "
        "both, a_only, b_only, neither: the paired difference (Tango, Newcombe) and McNemar's tests. tp, fp, "
        "fn, tn: sensitivity, specificity, predictive values. p: adjustment by Holm and Benjamini-Hochberg, "
        "within each family. stratum, size, value: the weighted mean of a stratified sample, one line per "
        "sampled unit. Needs no workspace.",
    )
    parser.add_argument("counts", type=Path, metavar="COUNTS.csv")
    parser.add_argument(
        "--out", type=Path, metavar="counts.json", help="write all results with full precision"
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=CONFIDENCE,
        metavar="SHARE",
        help="confidence level of the intervals (default 0.95)",
    )
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Print the results; with ``--out`` also write them as JSON.

    Raises:
        InvalidValue, Refused: an argument or the file is not valid.
    """
    if not 0.5 <= args.confidence < 1:
        raise InvalidValue("confidence", f"must be at least 0.5 and below 1, not {args.confidence}")
    header = _read_header(args.counts)
    for columns, measure in _OTHER_TABLES.items():
        if set(columns.split()) <= set(header):
            tables = measure(args.counts, args.confidence)
            _print_tables(tables)
            _write_json(args.out, tables, args.confidence)
            return 0
    results = measure_counts(read_counts(args.counts), confidence=args.confidence)
    for row in results.accuracy:
        task_text = f", {row.task}" if row.task else ""
        share_text = "not defined" if row.estimate is None else f"{100 * row.estimate:.2f} %"
        if row.low is None or row.high is None:
            print(f"{row.rater}{task_text}: {share_text} of {row.n:,} ({row.note})")
            continue
        interval = f"{_format_percent(row.low)} to {_format_percent(row.high)}"
        print(f"{row.rater}{task_text}: {row.correct:,} of {row.n:,}, {share_text}, {interval}")
    for mean in results.overall:
        if mean.tasks > 1 and mean.micro is not None and mean.macro is not None:
            print(
                f"{mean.rater}, overall: micro {100 * mean.micro:.2f} % of {mean.n:,}, "
                f"macro {100 * mean.macro:.2f} % over {mean.tasks} tasks"
            )
    for paired in results.paired:
        task_text = f", {paired.task}" if paired.task else ""
        print(
            f"{paired.a} minus {paired.b}{task_text}: {100 * paired.difference:+.2f} points on {paired.n:,}; "
            f"lower limit {_format_points(paired.low_least)} to {_format_points(paired.low_most)}, "
            f"upper limit {_format_points(paired.high_least)} to {_format_points(paired.high_most)}; p "
            f"{paired.p_exact_least:.2g} to {paired.p_exact_most:.2g} ({paired.note})"
        )
    for unpaired in results.unpaired:
        print(
            f"{unpaired.a} minus {unpaired.b}:  {100 * unpaired.difference:+.2f} points, "
            f"{_format_points(unpaired.low)} to {_format_points(unpaired.high)} ({unpaired.note})"
        )
    _write_json(args.out, tables_to_records(results), results.confidence)
    return 0


def read_counts(path: Path) -> list[Count]:
    """Read the rows of the file.

    Raises:
        Refused: a column is missing, or a value is not valid; the message states line and field.
    """
    names = set(_read_header(path))
    if not {"rater", "n"} <= names or not {"correct", "percent"} & names:
        raise Refused(f"{path.name}, line 1: the columns are {_COLUMNS_TEXT}")
    return _read_rows(path, _parse_count, unique=("rater", "task"))


def _measure_paired_tables(path: Path, confidence: float) -> dict[str, list[Record]]:
    def parse(values: dict[str, str]) -> PairedTable:
        counts = {name: _parse_whole_number(name, values[name]) for name in _PAIRED}
        return PairedTable(a=values.get("a") or "a", b=values.get("b") or "b", **counts)

    return {
        "paired": to_records(
            measure_paired_table(table, confidence=confidence) for table in _read_rows(path, parse)
        )
    }


def _measure_diagnostic_tables(path: Path, confidence: float) -> dict[str, list[Record]]:
    def parse(values: dict[str, str]) -> DiagnosticTable:
        counts = {name: _parse_whole_number(name, values[name]) for name in _DIAGNOSTIC}
        return DiagnosticTable(rater=values.get("rater", ""), **counts)

    return {
        "diagnostic": to_records(
            result
            for table in _read_rows(path, parse)
            for result in measure_diagnostic_table(table, confidence=confidence)
        )
    }


def _adjust_p_values(path: Path, _confidence: float) -> dict[str, list[Record]]:
    def parse(values: dict[str, str]) -> ComparisonP:
        return ComparisonP(
            comparison=values.get("comparison", ""),
            family=values.get("family", ""),
            p=_parse_number("p", values["p"]),
        )

    return {"adjusted": to_records(adjust_comparisons(_read_rows(path, parse)))}


def _measure_strata(path: Path, confidence: float) -> dict[str, list[Record]]:
    def parse(values: dict[str, str]) -> tuple[str, int, float]:
        return (
            values["stratum"],
            _parse_whole_number("size", values["size"]),
            _parse_number("value", values["value"]),
        )

    sizes: dict[str, int] = {}
    values_by_stratum: dict[str, list[float]] = {}
    for stratum, size, value in _read_rows(path, parse):
        if sizes.setdefault(stratum, size) != size:
            raise Refused(f"{path.name}: size: stratum {stratum!r} has the sizes {sizes[stratum]} and {size}")
        values_by_stratum.setdefault(stratum, []).append(value)
    for stratum, values in values_by_stratum.items():
        if len(values) < 2 or len(values) > sizes[stratum]:
            raise Refused(
                f"{path.name}: stratum {stratum!r} has {len(values)} values and the size {sizes[stratum]}; "
                "it needs two values or more, and not more values than its size"
            )
    result = stratified_mean(
        [np.array(values) for values in values_by_stratum.values()],
        [sizes[stratum] for stratum in values_by_stratum],
        confidence=confidence,
    )
    return {"stratified": [to_record(result)]}


_PAIRED = ("both", "a_only", "b_only", "neither")
_DIAGNOSTIC = ("tp", "fp", "fn", "tn")
_OTHER_TABLES: dict[str, Callable[[Path, float], dict[str, list[Record]]]] = {
    " ".join(_PAIRED): _measure_paired_tables,
    " ".join(_DIAGNOSTIC): _measure_diagnostic_tables,
    "stratum size value": _measure_strata,
    "p": _adjust_p_values,
}


def _read_header(path: Path) -> list[str]:
    with _open_table(path) as file:
        return [name.strip() for name in next(csv.reader(file), [])]


@contextmanager
def _open_table(path: Path) -> Iterator[TextIO]:
    """Open the file as text.

    Raises:
        Refused: the file is not UTF-8, or not CSV.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError:
        raise Refused(f"{path.name}: is not UTF-8; save the table as CSV in UTF-8") from None
    except csv.Error as error:
        raise Refused(f"{path.name}: is not CSV: {error}; is a quotation mark missing?") from None


def _read_rows(
    path: Path, parse: Callable[[dict[str, str]], Row], *, unique: tuple[str, ...] = ()
) -> list[Row]:
    """Parse the lines after the first one.

    Args:
        path: the file.
        parse: converts the stripped values by column name.
        unique: columns whose values together must not occur twice.

    Raises:
        Refused: a value is not valid, or there is no row; the message states line and field.
    """
    parsed_rows: list[Row] = []
    line_numbers: dict[tuple[str, ...], int] = {}
    with _open_table(path) as file:
        lines = csv.DictReader(file)
        lines.fieldnames = [name.strip() for name in lines.fieldnames or []]
        for row in lines:
            values = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
            try:
                parsed_row = parse(values)
                key = tuple(values.get(name, "") for name in unique)
                if unique and key in line_numbers:
                    raise InvalidValue(unique[0], f"{key[0]!r} is already on line {line_numbers[key]}")
            except InvalidValue as error:
                raise Refused(f"{path.name}, line {lines.line_num}: {error.field}: {error.reason}") from error
            line_numbers[key] = lines.line_num
            parsed_rows.append(parsed_row)
    if not parsed_rows:
        raise Refused(f"{path.name}, line 2: the file has no rows")
    return parsed_rows


def _print_tables(tables: dict[str, list[Record]]) -> None:
    """Print each record as "column value" pairs."""
    for record in (record for records in tables.values() for record in records):
        print(", ".join(_format_fields(record)))


def _format_fields(record: Record) -> Iterable[str]:
    for name, value in record.items():
        if value is None or value == "":
            continue
        yield f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"


def _write_json(out: Path | None, tables: dict[str, list[Record]], confidence: float) -> None:
    if out is None:
        return
    plain = tables | {"settings": {"confidence": confidence, "version": "overread.counts/1"}}
    out.write_text(json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1) + "\n", encoding="utf-8")


def _parse_count(values: dict[str, str]) -> Count:
    if not values["rater"]:
        raise InvalidValue("rater", "is empty")
    n = _parse_whole_number("n", values["n"])
    rater, task = values["rater"], values.get("task", "")
    if values.get("correct"):
        return Count(rater=rater, task=task, correct=_parse_whole_number("correct", values["correct"]), n=n)
    percent_text = values.get("percent", "")
    if not percent_text:
        raise InvalidValue("correct", "is empty; give correct or percent")
    percent = _parse_number("percent", percent_text)
    correct = count_from_percent(percent, n, digits=len(percent_text.partition(".")[2]))
    return Count(rater=rater, task=task, correct=correct, n=n, share=percent / 100)


def _parse_whole_number(field: str, text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise InvalidValue(field, f"{text!r} is not a whole number of 0 or more")
    return int(text)


def _parse_number(field: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise InvalidValue(field, f"{text!r} is not a number") from error
    if not math.isfinite(value):
        raise InvalidValue(field, f"{text!r} is not a finite number")
    return value


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _format_points(share: float) -> str:
    return f"{100 * share:+.1f}"
