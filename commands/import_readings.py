"""``cli.py import readings``: import readings that were made outside the app, as CSV or JSON Lines."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.output import print_refusals
from domain.count_texts import count_text
from reader_study.service import import_readings
from storage.unit_of_work import unit_of_work

_MAX_SHOWN = 50  # refusals shown in the terminal


def add_kind(kinds: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    readings = kinds.add_parser(
        "readings",
        help="import readings recorded elsewhere (overread.reading/1)",
        description="Columns: study, reader, question_id, answer, seconds, read_at, optionally confidence. "
        'An answer is a letter ("A|C" for several), an option, yes or no, text, or "?" for cannot '
        "determine. An import is complete or has no effect.",
    )
    readings.add_argument("file", type=Path, metavar="FILE")
    readings.add_argument("--study", required=True, metavar="NAME")
    readings.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Import the file. Returns 0, or 1 after printing the invalid lines."""
    with unit_of_work() as db:
        outcome = import_readings(
            db,
            by=command_line_person(),
            study=args.study,
            content=args.file,
            file=args.file.name,
            now=datetime.now(UTC),
        )
    if outcome.refusals:
        count = len(outcome.refusals)
        print_refusals(outcome.refusals, count=count, limit=_MAX_SHOWN, record_label="line ")
        print(f"Nothing was imported: {count_text(count, 'invalid line')}.", file=sys.stderr)
        return 1
    print(
        f"Imported {count_text(outcome.readings, 'reading')} of {count_text(len(outcome.readers), 'reader')} "
        f"into study {args.study}."
    )
    return 0
