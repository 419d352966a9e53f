"""``cli.py check``: run the four structural checks on a dataset."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.patient_data import run_texts
from domain.problems import Check
from quality.service import find_problems, list_examples, load_check_report, record_problems
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "check",
        description="Check schema, types, format and completeness of every question. Problems are stored "
        "with the dataset and shown on the page Checks; questions are not changed.",
    )
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument(
        "--minimum-explanation",
        type=int,
        metavar="N",
        help="minimum length in characters; stored as a setting of the dataset",
    )
    parser.add_argument(
        "--examples", type=int, default=3, metavar="N", help="number of examples per check (default 3)"
    )
    parser.add_argument(
        "--patient-data",
        action="store_true",
        help="also search the texts for patient data, like cli.py patient-data texts",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the checks and print the problems by check. Returns 0 even if there are problems."""
    by, printer = command_line_person(), _ProgressPrinter()
    with read_only_session() as db:
        found_problems = find_problems(
            db, by=by, dataset=args.dataset, minimum_explanation=args.minimum_explanation, progress=printer
        )
    printer.finish()
    with unit_of_work() as db:
        record_problems(db, by=by, detected=found_problems, now=datetime.now(UTC))
    with read_only_session() as db:
        check_report = load_check_report(db, by=by, dataset=args.dataset)
        print(
            f"{check_report.dataset}: {check_report.with_problems:,} of {check_report.questions:,} questions "
            "have problems."
        )
        for check in Check:
            print(f"{check}: {check_report.count_of(check):,} of {check_report.questions:,}")
            for field_count in check_report.counts:
                if field_count.check is check:
                    print(f"    {field_count.field}: {field_count.questions:,}")
            for example in list_examples(db, by=by, dataset=args.dataset, check=check, limit=args.examples):
                print(f"    e.g. {example.question_id}: {example.problem.field} {example.problem.reason}")
    return run_texts(args) if args.patient_data else 0


class _ProgressPrinter:
    """Prints progress on standard error if the checks take more than two seconds."""

    def __init__(self) -> None:
        self._started_at = self._printed_at = time.monotonic()
        self._line_open = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._started_at < 2 or (now - self._printed_at < 1 and self._line_open):
            return
        self._printed_at, self._line_open = now, True
        print(f"\r{done:,} of {total:,}", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        if self._line_open:
            print(file=sys.stderr)
