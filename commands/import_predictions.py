"""``cli.py import predictions``: import the answers of a model, as overread.prediction/1."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.output import print_refusals
from domain.count_texts import count_text
from domain.errors import Refused
from reader_study.extraction import describe_rule_counts
from reader_study.service import import_predictions
from storage.unit_of_work import unit_of_work

_MAX_SHOWN = 50  # refusals shown in the terminal


def add_kind(kinds: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    predictions = kinds.add_parser(
        "predictions",
        help="import the predictions of a model (overread.prediction/1)",
        description="JSON Lines with question_id and either answer or raw, the reply as free text. The "
        "answer is extracted from free text by fixed rules; a reply without a recognised answer counts as "
        "wrong and is reported. An import is complete or has no effect.",
    )
    predictions.add_argument("file", type=Path, metavar="FILE")
    predictions.add_argument("--model", required=True, metavar="NAME")
    target = predictions.add_mutually_exclusive_group()
    target.add_argument(
        "--study", metavar="NAME", help="add the model to this study (default: the only open study)"
    )
    target.add_argument(
        "--dataset", metavar="NAME", help="import without a study; required if there are several datasets"
    )
    predictions.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Import the file. Returns 0, or 1 after printing the invalid lines."""
    if not args.file.is_file():
        raise Refused(
            f"{args.file}: "
            + ("is not a regular file; choose a file" if args.file.exists() else "no such file")
        )
    size, last_printed_at, has_printed = max(1, args.file.stat().st_size), time.monotonic(), False

    def report_progress(bytes_read: int) -> None:
        nonlocal has_printed, last_printed_at
        if time.monotonic() - last_printed_at > 2:
            print(f"\r{bytes_read / size:4.0%}", end="", file=sys.stderr, flush=True)
            has_printed, last_printed_at = True, time.monotonic()

    with unit_of_work() as db:
        outcome = import_predictions(
            db,
            by=command_line_person(),
            path=args.file,
            model=args.model,
            study=args.study,
            dataset=args.dataset,
            now=datetime.now(UTC),
            progress=report_progress,
        )
    if has_printed:
        print(file=sys.stderr)
    if outcome.refused:
        print_refusals(outcome.refusals, count=outcome.refused, limit=_MAX_SHOWN, record_label="line ")
        print(f"Nothing was imported: {count_text(outcome.refused, 'invalid line')}.", file=sys.stderr)
        return 1
    print(
        f"Imported {count_text(outcome.predictions, 'prediction')} of {outcome.model} into dataset "
        f"{outcome.dataset!r} ({describe_rule_counts(outcome.rules)})."
    )
    if outcome.failed:
        share = outcome.failed / outcome.predictions
        print(
            f"{count_text(outcome.failed, 'reply', 'replies')} ({share:.2%}) without a recognised answer; "
            "these count as wrong."
        )
    if outcome.study_cases:
        answered, cases = outcome.study_cases
        print(f"{outcome.study}: {outcome.model} has answered {answered:,} of {count_text(cases, 'case')}.")
    else:
        print("The model is not in a study. To add it, see: cli.py study models --help")
    return 0
