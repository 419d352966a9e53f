"""``cli.py counts``: statistics computed from published counts or percentages, without a workspace."""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

from commands.arguments import Subparsers
from domain.errors import InvalidValue, Refused
from measures.agreement import CONFIDENCE
from measures.counts import Count, count_from_percent, measure_counts
from measures.results import tables_to_records

_COLUMNS = "rater, n, correct or percent, and task if there are several"


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "counts",
        description=f"Read a CSV file with the columns {_COLUMNS}, one line per rater and task. Print "
        "Wilson intervals, micro and macro means, and the difference of each pair of raters with the same n "
        "as a range, because the pairing of correct answers is not known. Needs no workspace.",
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
    results = measure_counts(read_counts(args.counts), confidence=args.confidence)
    for row in results.accuracy:
        task_text = f", {row.task}" if row.task else ""
        share = "not defined" if row.estimate is None else f"{100 * row.estimate:.2f} %"
        if row.low is None or row.high is None:
            print(f"{row.rater}{task_text}: {share} of {row.n:,} ({row.note})")
            continue
        interval = f"{_format_percent(row.low)} to {_format_percent(row.high)}"
        print(f"{row.rater}{task_text}: {row.correct:,} of {row.n:,}, {share}, {interval}")
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
    if args.out is not None:
        plain = tables_to_records(results) | {
            "settings": {"confidence": results.confidence, "version": "overread.counts/1"}
        }
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        args.out.write_text(text, encoding="utf-8")
    return 0


def read_counts(path: Path) -> list[Count]:
    """Read the rows of the file.

    Raises:
        Refused: a column is missing, or a value is not valid; the message states line and field.
    """
    counts: list[Count] = []
    line_numbers: dict[tuple[str, str], int] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        names = [name.strip() for name in rows.fieldnames or []]
        if not {"rater", "n"} <= set(names) or not {"correct", "percent"} & set(names):
            raise Refused(f"{path.name}, line 1: the columns are {_COLUMNS}")
        rows.fieldnames = names
        for row in rows:
            try:
                count = _parse_count(row)
                key = (count.rater, count.task)
                if key in line_numbers:
                    raise InvalidValue("rater", f"{count.rater!r} is already on line {line_numbers[key]}")
            except InvalidValue as error:
                raise Refused(f"{path.name}, line {rows.line_num}: {error.field}: {error.reason}") from error
            line_numbers[key] = rows.line_num
            counts.append(count)
    if not counts:
        raise Refused(f"{path.name}, line 2: the file has no rows; add one row per rater and task")
    return counts


def _parse_count(row: dict[str | Any, str | Any]) -> Count:
    values = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
    if not values["rater"]:
        raise InvalidValue("rater", "is empty")
    n = _parse_whole_number("n", values["n"])
    rater, task = values["rater"], values.get("task", "")
    if values.get("correct"):
        return Count(rater=rater, task=task, correct=_parse_whole_number("correct", values["correct"]), n=n)
    printed = values.get("percent", "")
    if not printed:
        raise InvalidValue("correct", "is empty; give correct or percent")
    try:
        percent = float(printed)
    except ValueError as error:
        raise InvalidValue("percent", f"{printed!r} is not a number") from error
    correct = count_from_percent(percent, n, digits=len(printed.partition(".")[2]))
    return Count(rater=rater, task=task, correct=correct, n=n, share=percent / 100)


def _parse_whole_number(field: str, text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise InvalidValue(field, f"{text!r} is not a whole number of 0 or more")
    return int(text)


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _format_points(share: float) -> str:
    return f"{100 * share:+.1f}"
