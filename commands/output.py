"""Output that several commands share: progress, refusals, and results of a batch as text or JSON."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from commands.arguments import Subparsers
from domain.problems import Refusal

if TYPE_CHECKING:
    from review.agreement import AgreementEstimate

_INTERVAL_SECONDS = 2.0


class ProgressPrinter:
    """Prints progress on standard error every two seconds.

    Call it with the name of the step, the number of items done and the total number, 0 if it is not known.
    """

    def __init__(self) -> None:
        self._printed_at = time.monotonic()

    def __call__(self, step: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._printed_at >= _INTERVAL_SECONDS:
            self._printed_at = now
            of_total = f" of {total:,} ({100 * done // total} %)" if total else ""
            print(f"{step}: {done:,}{of_total}", file=sys.stderr, flush=True)


def print_refusals(refusals: Sequence[Refusal], *, count: int, limit: int, record_label: str = "") -> None:
    """Print refused records on standard error.

    Args:
        refusals: the first refused records.
        count: the number of all refused records.
        limit: the maximum number of records to print.
        record_label: the text before the name of the record, such as "line ".
    """
    for refusal in refusals[:limit]:
        parts = (refusal.file, refusal.record and f"{record_label}{refusal.record}", refusal.field)
        print(f"{': '.join(part for part in parts if part)}: {refusal.reason}", file=sys.stderr)
    if count > limit:
        print(f"… and {count - limit:,} more", file=sys.stderr)


def format_size(size: float) -> str:
    """Format a number of bytes with a unit."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def add_batch_results(subparsers: Subparsers, name: str, *, description: str) -> argparse.ArgumentParser:
    """Add a command that prints the results of one batch, as text or as JSON."""
    parser = subparsers.add_parser(name, description=description)
    parser.add_argument("batch", metavar="BATCH")
    parser.add_argument(
        "--json", action="store_true", help="print all numbers as JSON; undefined values are null"
    )
    return parser


def print_results(args: argparse.Namespace, *, plain: dict[str, Any], lines: Iterable[str]) -> None:
    """Print the results as JSON if ``--json`` was given, otherwise as text."""
    print(json.dumps(plain, ensure_ascii=False, indent=2) if args.json else "\n".join(lines))


def format_estimate(figure: AgreementEstimate, *, percent: bool = False) -> str:
    """Format an estimate with its interval, the kind of interval, and n; if undefined, the reason and n."""
    if figure.estimate is None:
        return f"{figure.note} (n = {figure.n:,})"

    def format_number(value: float) -> str:
        return f"{100 * value:.1f} %" if percent else f"{value:.2f}"

    interval = (
        ""
        if figure.low is None or figure.high is None
        else f" ({format_number(figure.low)} to {format_number(figure.high)}, {figure.kind})"
    )
    note = f"; {figure.note}" if figure.note else ""
    return f"{format_number(figure.estimate)}{interval}, n = {figure.n:,}{note}"
