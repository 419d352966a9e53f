"""``cli.py progress``: the progress of a batch and the reported errors, as text or as JSON."""

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
from domain.ratings import RATING_VALUES
from measures.estimate import Estimate
from review.progress import format_interval
from review.rating_statistics import format_mean
from review.service import PACE_RULE, Progress, ProgressLine, Rate, format_percent, load_progress
from storage.unit_of_work import read_only_session


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "progress",
        description="Print done, skipped and remaining questions by difficulty, task and reviewer, kinds of "
        "error with 95 % Wilson intervals, and the stated difficulty compared with the reviewers' rating "
        "(weighted kappa).",
    )
    parser.add_argument("batch", metavar="BATCH")
    parser.add_argument(
        "--json", action="store_true", help="print all numbers as JSON; undefined values are null"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the progress. Returns 0; raises DomainError if refused."""
    with read_only_session() as db:
        batch_progress = load_progress(db, by=command_line_person(), batch=args.batch, now=datetime.now(UTC))
    if args.json:
        print(json.dumps(to_plain(batch_progress), ensure_ascii=False, indent=2))
    else:
        print("\n".join(format_text(batch_progress)))
    return 0


def to_plain(batch_progress: Progress) -> dict[str, Any]:
    """Return all values for JSON. Shares are 0 to 1, times are UTC, undefined values are None."""
    table = batch_progress.tier_table
    return {
        "batch": batch_progress.batch.name,
        "state": batch_progress.batch.state.value,
        "whole": _line_to_plain(batch_progress.batch_line),
        "tiers": [_line_to_plain(line) for line in batch_progress.lines_by_tier],
        "tasks": [_line_to_plain(line) for line in batch_progress.lines_by_task],
        "reviewers": [_line_to_plain(line) for line in batch_progress.lines_by_reviewer],
        "reviewed": batch_progress.reviewed,
        "skipped": asdict(batch_progress.skipped),
        "decisions": [_rate_to_plain(rate) for rate in batch_progress.decisions],
        "errors": [_rate_to_plain(rate) for rate in batch_progress.errors],
        "ratings": [asdict(line) for line in batch_progress.ratings],
        "flags": [asdict(line) for line in batch_progress.yes_no_fields],
        "tiers_machine_by_expert": {
            "tiers": [tier.value for tier in table.tiers],
            "counts": [list(row) for row in table.counts],
            "n": table.n,
            "without": table.missing_tier,
            "linear": _kappa_to_plain("linear", table.linear),
            "quadratic": _kappa_to_plain("quadratic", table.quadratic),
            "interval": table.note,
        },
        "notes": list(batch_progress.notes),
        "pace": PACE_RULE,
    }


def format_text(batch_progress: Progress) -> Iterable[str]:
    """Format the progress as lines of text."""
    yield (
        f"Batch {batch_progress.batch.name}, {batch_progress.batch.state}:"
        f" {batch_progress.batch_line.questions:,} questions"
    )
    yield ""
    header = ("", "questions", "unassigned", "requested", "done", "skipped", "left", "median s", "finish")
    rows = [_format_cells("all", batch_progress.batch_line)]
    for title, lines in (
        ("tier", batch_progress.lines_by_tier),
        ("task", batch_progress.lines_by_task),
        ("", batch_progress.lines_by_reviewer),
    ):
        rows += [_format_cells(f"{title} {line.name}".strip(), line) for line in lines]
    yield from _format_table(header, rows)
    yield from wrap(f"Median: viewing time in seconds until the first verdict. {PACE_RULE}", width=100)
    yield ""
    yield from batch_progress.summary_lines
    if batch_progress.reviewed:
        decisions_text = ", ".join(
            f"{rate.name} {rate.share.count:,} ({format_percent(rate.share.estimate)})"
            for rate in batch_progress.decisions
        )
        yield f"Decided: {decisions_text}."
    if batch_progress.skipped.n:
        yield (
            f"Skipped: {batch_progress.skipped.count:,} of {batch_progress.skipped.n:,} questions "
            f"({format_percent(batch_progress.skipped.estimate)})."
        )
    yield from batch_progress.notes
    yield ""
    yield from _format_ratings(batch_progress)
    table = batch_progress.tier_table
    yield f"Stated difficulty (rows) against reviewers' rating (columns), n = {table.n:,} judgements"
    yield from _format_table(
        ("", *table.tiers),
        [
            (tier, *(f"{count:,}" for count in row))
            for tier, row in zip(table.tiers, table.counts, strict=True)
        ],
    )
    for weights, kappa in (("linear", table.linear), ("quadratic", table.quadratic)):
        yield f"Kappa, {weights} weights: {_format_kappa(kappa)}"
    yield table.note


def _format_ratings(batch_progress: Progress) -> Iterable[str]:
    yield "Number of judgements with each rating, 1 (worst) to 5 (best), number not judged, and mean rating"
    yield from _format_table(
        ("", *map(str, RATING_VALUES), "not judged", "mean"),
        [
            (
                line.name,
                *(f"{count:,}" for count in line.counts),
                f"{line.not_judged:,}",
                format_mean(line.mean),
            )
            for line in batch_progress.ratings
        ],
    )
    yield ""
    for field in batch_progress.yes_no_fields:
        yes = field.yes
        share = f"{format_percent(yes.estimate)}, {format_interval(yes.low, yes.high)}"
        yield f"{field.name}: {yes.count:,} of {yes.n:,} ({share}); {field.not_judged:,} not judged"
    yield ""


def _line_to_plain(line: ProgressLine) -> dict[str, Any]:
    # In the JSON output, the field "requested" is called "asked".
    plain = {"asked" if name == "requested" else name: value for name, value in asdict(line).items()}
    plain["finish"] = line.finish.expected_at.isoformat() if line.finish.expected_at else None
    plain["finish_note"] = line.finish.note
    return plain


def _rate_to_plain(rate: Rate) -> dict[str, Any]:
    return {"name": rate.name, **asdict(rate.share), "if_skipped": rate.if_skipped}


def _kappa_to_plain(weights: str, kappa: Estimate) -> dict[str, Any]:
    plain = asdict(kappa)
    return {"weights": weights, "n": plain.pop("n"), "estimate": plain.pop("value"), **plain}


def _format_kappa(kappa: Estimate) -> str:
    if kappa.value is None:
        return f"{kappa.note} (n = {kappa.n:,})"
    interval_text = "" if kappa.low is None else f", 95 % {kappa.low:.2f} to {kappa.high:.2f}"
    note = f"; {kappa.note}" if kappa.note else ""
    return f"{kappa.value:.2f}{interval_text}, n = {kappa.n:,}{note}"


def _format_cells(name: str, line: ProgressLine) -> tuple[str, ...]:
    numbers = (line.questions, line.unassigned, line.requested, line.done, line.skipped, line.left)
    return (
        name,
        *(f"{number:,}" for number in numbers),
        "none yet" if line.seconds_median is None else f"{line.seconds_median:.0f}",
        f"{line.finish.expected_at:%Y-%m-%d %H:%M} UTC" if line.finish.expected_at else line.finish.note,
    )


def _format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, *rows):
        first, *other_cells = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join([first, *other_cells]).rstrip()
