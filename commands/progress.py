"""``cli.py progress``: how much of a batch is reviewed, and the errors reported, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from textwrap import wrap
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.ratings import VALUES
from measures.agreement import Kappa
from review.progress import interval
from review.rated import mean_text
from review.service import RULE, Line, Progress, Rate, percent, progress
from storage.unit_of_work import reading


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "progress",
        description="Done, skipped and left by tier, task and reviewer; kinds of error with 95 % Wilson "
        "intervals; machine tier against expert tier with weighted kappa.",
    )
    parser.add_argument("batch", metavar="BATCH")
    parser.add_argument("--json", action="store_true", help="every number as JSON; not defined is null")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the figures. Returns 0; a refusal is raised."""
    with reading() as db:
        found = progress(db, by=command_line_person(), batch=args.batch, now=datetime.now(UTC))
    if args.json:
        print(json.dumps(to_plain(found), ensure_ascii=False, indent=2))
    else:
        print("\n".join(as_text(found)))
    return 0


def to_plain(found: Progress) -> dict[str, Any]:
    """Every figure of the page as JSON: shares are 0 to 1, times are UTC, undefined figures are None."""
    table = found.tier_table
    return {
        "batch": found.batch.name,
        "state": found.batch.state.value,
        "whole": _line(found.whole),
        "tiers": [_line(line) for line in found.tiers],
        "tasks": [_line(line) for line in found.tasks],
        "reviewers": [_line(line) for line in found.reviewers],
        "reviewed": found.reviewed,
        "skipped": asdict(found.skipped),
        "decisions": [_rate(rate) for rate in found.decisions],
        "errors": [_rate(rate) for rate in found.errors],
        "ratings": [asdict(line) for line in found.ratings],
        "flags": [asdict(line) for line in found.flags],
        "tiers_machine_by_expert": {
            "tiers": [tier.value for tier in table.tiers],
            "counts": [list(row) for row in table.counts],
            "n": table.n,
            "without": table.without,
            "linear": _kappa(table.linear),
            "quadratic": _kappa(table.quadratic),
            "interval": table.note,
        },
        "notes": list(found.notes),
        "pace": RULE,
    }


def as_text(found: Progress) -> Iterable[str]:
    """The page as lines of text."""
    yield f"Batch {found.batch.name}, {found.batch.state}: {found.whole.questions:,} questions"
    yield ""
    header = ("", "questions", "nobody's", "asked", "done", "skipped", "left", "median s", "finish")
    rows = [_cells("all", found.whole)]
    for title, lines in (("tier", found.tiers), ("task", found.tasks), ("", found.reviewers)):
        rows += [_cells(f"{title} {line.name}".strip(), line) for line in lines]
    yield from _table(header, rows)
    yield from wrap(f"Median: seconds of looking until a person's first verdict. {RULE}", width=100)
    yield ""
    yield from found.sheet
    if found.reviewed:
        decided = ", ".join(
            f"{rate.name} {rate.share.count:,} ({percent(rate.share.estimate)})" for rate in found.decisions
        )
        yield f"Decided: {decided}."
    if found.skipped.n:
        yield (
            f"Skipped: {found.skipped.count:,} of {found.skipped.n:,} questions "
            f"({percent(found.skipped.estimate)})."
        )
    yield from found.notes
    yield ""
    yield from _rated(found)
    table = found.tier_table
    yield f"Machine tier (rows) against expert tier (columns), n = {table.n:,} judgements"
    yield from _table(
        ("", *table.tiers),
        [
            (tier, *(f"{count:,}" for count in row))
            for tier, row in zip(table.tiers, table.counts, strict=True)
        ],
    )
    for kappa in (table.linear, table.quadratic):
        yield f"Kappa, {kappa.weights} weights: {_kappa_text(kappa)}"
    yield table.note


def _rated(found: Progress) -> Iterable[str]:
    yield "Ratings, in judgements: 1 (worst) to 5 (best), those not judged, and the mean"
    yield from _table(
        ("", *map(str, VALUES), "not judged", "mean"),
        [
            (
                line.name,
                *(f"{count:,}" for count in line.counts),
                f"{line.not_judged:,}",
                mean_text(line.mean),
            )
            for line in found.ratings
        ],
    )
    yield ""
    for flag in found.flags:
        share = f"{percent(flag.yes.estimate)}, {interval(flag.yes.low, flag.yes.high)}"
        yield f"{flag.name}: {flag.yes.count:,} of {flag.yes.n:,} ({share}); {flag.not_judged:,} not judged"
    yield ""


def _line(line: Line) -> dict[str, Any]:
    plain = asdict(line)
    plain["finish"] = line.finish.at.isoformat() if line.finish.at else None
    plain["finish_note"] = line.finish.note
    return plain


def _rate(rate: Rate) -> dict[str, Any]:
    return {"name": rate.name, **asdict(rate.share), "if_skipped": rate.if_skipped}


def _kappa(kappa: Kappa) -> dict[str, Any]:
    return {**asdict(kappa), "weights": kappa.weights.value}


def _kappa_text(kappa: Kappa) -> str:
    if kappa.estimate is None:
        return f"{kappa.note} (n = {kappa.n:,})"
    reach = "" if kappa.low is None else f", 95 % {kappa.low:.2f} to {kappa.high:.2f}"
    note = f"; {kappa.note}" if kappa.note else ""
    return f"{kappa.estimate:.2f}{reach}, n = {kappa.n:,}{note}"


def _cells(name: str, line: Line) -> tuple[str, ...]:
    numbers = (line.questions, line.unassigned, line.asked, line.done, line.skipped, line.left)
    return (
        name,
        *(f"{number:,}" for number in numbers),
        "none yet" if line.seconds_median is None else f"{line.seconds_median:.0f}",
        f"{line.finish.at:%Y-%m-%d %H:%M} UTC" if line.finish.at else line.finish.note,
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, *rows):
        first, *others = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *others]).rstrip()
