"""``cli.py counts``: what published counts or percentages alone say, without a workspace."""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

from domain.errors import InvalidValue, Refused
from measures.agreement import CONFIDENCE
from measures.counts import Count, count_printed, measure_counts
from measures.results import tables_to_records

_COLUMNS = "rater, n, correct or percent, and task where there are several"


def add_to(subparsers: argparse._SubParsersAction) -> None:
    """The command and what it takes."""
    parser = subparsers.add_parser(
        "counts",
        description=f"Reads a CSV with the columns {_COLUMNS}: one line a rater and task. Gives "
        "Wilson intervals, micro and macro means, and the difference of every two raters of one n as a "
        "range, since nobody knows on which cases each was right. Needs no workspace.",
    )
    parser.add_argument("counts", type=Path, metavar="COUNTS.csv")
    parser.add_argument("--out", type=Path, metavar="counts.json", help="every figure to the last digit")
    parser.add_argument(
        "--confidence", type=float, default=CONFIDENCE, metavar="SHARE", help="of intervals (default 0.95)"
    )
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Print, and write; 0 done, 1 refused with line and field."""
    if not 0.5 <= args.confidence < 1:
        raise InvalidValue("confidence", f"{args.confidence} must be at least 0.5 and below 1, as 0.95")
    found = measure_counts(read_counts(args.counts), confidence=args.confidence)
    for each in found.accuracy:
        where = f", {each.task}" if each.task else ""
        share = "not defined" if each.estimate is None else f"{100 * each.estimate:.2f} %"
        if each.low is None or each.high is None:
            print(f"{each.rater}{where}: {share} of {each.n:,} ({each.note})")
            continue
        interval = f"{_percent(each.low)} to {_percent(each.high)}"
        print(f"{each.rater}{where}: {each.correct:,} of {each.n:,}, {share}, {interval}")
    for each in found.overall:
        if each.tasks > 1 and each.micro is not None and each.macro is not None:
            print(
                f"{each.rater}, overall: micro {100 * each.micro:.2f} % of {each.n:,}, "
                f"macro {100 * each.macro:.2f} % over {each.tasks} tasks"
            )
    for each in found.paired:
        where = f", {each.task}" if each.task else ""
        print(
            f"{each.a} less {each.b}{where}: "
            f"{100 * each.difference:+.2f} points on {each.n:,}; "
            f"interval from {_points(each.low_least)} to {_points(each.low_most)} below, "
            f"{_points(each.high_least)} to {_points(each.high_most)} above; "
            f"p {each.p_exact_least:.2g} to {each.p_exact_most:.2g} ({each.note})"
        )
    for each in found.unpaired:
        print(
            f"{each.a} less {each.b}: {100 * each.difference:+.2f} points, "
            f"{_points(each.low)} to {_points(each.high)} ({each.note})"
        )
    if args.out is not None:
        plain = tables_to_records(found) | {
            "settings": {"confidence": found.confidence, "version": "overread.counts/1"}
        }
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
        args.out.write_text(text, encoding="utf-8")
    return 0


def read_counts(path: Path) -> list[Count]:
    """The rows of the file.

    Raises:
        Refused: a column that is missing, or a value that cannot be; names line and field.
    """
    counts: list[Count] = []
    seen: dict[tuple[str, str], int] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        names = [name.strip() for name in rows.fieldnames or []]
        if not {"rater", "n"} <= set(names) or not {"correct", "percent"} & set(names):
            raise Refused(f"{path.name}, line 1: the columns are {_COLUMNS}")
        rows.fieldnames = names
        for row in rows:
            try:
                found = _count(row)
                key = (found.rater, found.task)
                if key in seen:
                    raise InvalidValue("rater", f"{found.rater!r} stands on line {seen[key]} already")
            except InvalidValue as error:
                raise Refused(f"{path.name}, line {rows.line_num}: {error.field}: {error.reason}") from error
            seen[key] = rows.line_num
            counts.append(found)
    if not counts:
        raise Refused(f"{path.name}, line 2: no count; one rater and task a line")
    return counts


def _count(row: dict[str, str]) -> Count:
    text = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
    if not text["rater"]:
        raise InvalidValue("rater", "is empty")
    n = _whole("n", text["n"])
    name = {"rater": text["rater"], "task": text.get("task", "")}
    if text.get("correct"):
        return Count(**name, correct=_whole("correct", text["correct"]), n=n)
    printed = text.get("percent", "")
    try:
        percent = float(printed)
    except ValueError as error:
        raise InvalidValue("percent", f"{printed!r} is no number") from error
    right = count_printed(percent, n, digits=len(printed.partition(".")[2]))
    return Count(**name, correct=right, n=n, share=percent / 100)


def _whole(field: str, text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise InvalidValue(field, f"{text!r} is no whole number of 0 or more")
    return int(text)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
