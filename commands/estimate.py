"""``cli.py estimate``: dataset estimates from the reviewed sample, as text or as CSV."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from accounts.service import command_line_person
from commands.arguments import Subparsers
from review.estimates import Estimate
from review.estimates_text import csv_lines
from review.progress import interval, percent
from review.service import BATCH, GROUPS, Whole, estimate_groups, estimate_whole
from storage.unit_of_work import reading


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "estimate",
        description="Rates of acceptance, of key errors and of each kind of error in the whole dataset, "
        "weighted by stratum, with 95 % intervals (Jeffreys, finite population, clustered by exam).",
    )
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument(
        "--batch", action="append", dest="batches", metavar="BATCH", help="only this batch; may be repeated"
    )
    parser.add_argument("--by", choices=[BATCH, *GROUPS], help="broken down, side by side")
    parser.add_argument(
        "--goal", type=float, default=2.0, metavar="POINTS", help="half width to plan for; default 2"
    )
    parser.add_argument("--csv", action="store_true", help="every figure as CSV")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Print the figures. Returns 0; a refusal is raised."""
    if not 0 < args.goal < 50:
        args.parser.error("--goal must be above 0 and below 50 points")
    by, asked = command_line_person(), {"dataset": args.dataset, "batches": args.batches}
    with reading() as db:
        whole = estimate_whole(db, by=by, goal=args.goal / 100, **asked)
        groups = estimate_groups(db, by=by, group=args.by, **asked) if args.by else ()
    parts: list[tuple[str, str, Sequence[Estimate]]] = [("whole", args.dataset, whole.estimates.every)]
    parts += [(args.by, each.name, each.estimates.every) for each in groups]
    if args.csv:
        sys.stdout.writelines(csv_lines(parts))
        return 0
    if not whole.estimates.reviewed:
        print(
            f"Nothing is judged yet. {whole.estimates.whole:,} questions are in {whole.dataset}; the sample "
            f"in {', '.join(whole.batches)} waits for its reviewers: cli.py assign --help"
        )
        return 0
    print("\n".join(_text(whole)))
    for name, value, rates in parts[1:]:
        print(f"\n{name} {value}: {rates[0].rate.reviewed:,} judged of {rates[0].whole:,}")
        print("\n".join(f"  {line}" for line in _lines(rates) if line))
    return 0


def _text(whole: Whole) -> Iterator[str]:
    found = whole.estimates
    yield (
        f"{whole.dataset}: {found.reviewed:,} questions judged in {', '.join(whole.batches)} stand for "
        f"{found.covered:,} of {found.whole:,}"
    )
    yield from (f"  {line}" for line in _lines(found.every) if line)
    yield from (each.sentence for each in whole.plans)
    yield from whole.notes


def _lines(rates: Sequence[Estimate]) -> Iterator[str]:
    width = max(len(each.name) for each in rates)
    for each in rates:
        rate = each.rate
        if rate.estimate is None:
            yield f"{each.name:<{width}}  {rate.note}"
            continue
        bounds = f"; {interval(*rate.bounds)} if skipped" if rate.bounds else ""
        yield (
            f"{each.name:<{width}}  {percent(rate.estimate):>7}  95 % {interval(rate.low, rate.high):<11}  "
            f"({each.count:,} of {rate.reviewed:,}{bounds})"
        )
