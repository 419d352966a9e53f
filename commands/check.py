"""``cli.py check``: run the checks of a dataset, and switch them on and off."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers, parse_checks
from commands.patient_data import run_texts
from domain.people import Person
from quality.service import (
    CheckLine,
    CheckReport,
    finish_run,
    iterate_problems_csv,
    list_examples,
    load_check_report,
    reset_checks,
    run_checks,
    set_minimum_explanation,
    switch_check,
)
from review.check_measurement_text import describe_measurement, format_kappa
from review.service import measure_checks, measure_difficulty
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "check",
        description="Run the checks that are switched on for the questions of a dataset that are new since "
        "their last run. Problems are stored with the dataset and shown on the page Checks; questions are "
        "not changed.",
    )
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument(
        "--minimum-explanation",
        type=int,
        metavar="N",
        help="minimum length in characters; stored as a setting of the dataset",
    )
    parser.add_argument("--on", default="", metavar="CHECKS", help="switch checks on, such as schema,types")
    parser.add_argument("--off", default="", metavar="CHECKS", help="switch checks off")
    parser.add_argument("--again", action="store_true", help="check all questions, not only new ones")
    parser.add_argument(
        "--examples", type=int, default=3, metavar="N", help="number of examples per check (default 3)"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write all problems to a CSV file")
    parser.add_argument(
        "--measured",
        action="store_true",
        help="print how often the checks agree with the reviewers, in the random batches of the dataset",
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
    _change_settings(args, by)
    check_run = run_checks(by=by, dataset=args.dataset, clock=_now, progress=printer)
    printer.finish()
    with unit_of_work() as db:
        finish_run(db, by=by, run=check_run, now=_now())
    with read_only_session() as db:
        check_report = load_check_report(db, by=by, dataset=args.dataset)
        print(
            f"{check_report.dataset}: {check_report.with_problems:,} of {check_report.questions:,} questions "
            "have problems."
        )
        for line in check_report.lines:
            _print_line(check_report, line)
            for example in list_examples(
                db, by=by, dataset=args.dataset, check=line.check, limit=args.examples
            ):
                print(f"    e.g. {example.question_id}: {example.problem.field} {example.problem.reason}")
        if args.csv is not None:
            with args.csv.open("w", encoding="utf-8", newline="") as file:
                file.writelines(iterate_problems_csv(db, by=by, dataset=args.dataset, check=None))
    if args.measured:
        _print_measurements(by, args.dataset)
    return run_texts(args) if args.patient_data else 0


def _change_settings(args: argparse.Namespace, by: Person) -> None:
    with unit_of_work() as db:
        for names, is_on in ((args.on, True), (args.off, False)):
            for check in parse_checks(names):
                switch_check(db, by=by, dataset=args.dataset, check=check, is_on=is_on, now=_now())
        if args.minimum_explanation is not None:
            set_minimum_explanation(
                db, by=by, dataset=args.dataset, characters=args.minimum_explanation, now=_now()
            )
        if args.again:
            reset_checks(db, by=by, dataset=args.dataset, now=_now())


def _print_line(check_report: CheckReport, line: CheckLine) -> None:
    if not line.state.is_on:
        print(f"{line.check}: switched off")
        return
    not_checked = "".join(
        f"; {count:,} not checked: {need.label}" for need, count in line.not_checked.items()
    )
    print(f"{line.check}: {line.with_problem:,} of {line.questions:,}{not_checked}")
    for field_count in check_report.counts:
        if field_count.check is line.check:
            print(f"    {field_count.field}: {field_count.questions:,}")


def _print_measurements(by: Person, dataset: str) -> None:
    print("Measured against reviewers, weighted to the dataset:")
    with read_only_session() as db:
        measurements = measure_checks(db, by=by, dataset=dataset)
        difficulties = measure_difficulty(db, by=by, dataset=dataset)
    for measurement in measurements:
        print(f"    {measurement.check}, {measurement.target}: {describe_measurement(measurement)}")
    for agreement in difficulties:
        print(f"    {agreement.source}, weighted kappa with reviewers: {format_kappa(agreement.kappa)}")


def _now() -> datetime:
    return datetime.now(UTC)


class _ProgressPrinter:
    """Prints progress on standard error if the checks take more than two seconds."""

    def __init__(self) -> None:
        self._started_at = self._printed_at = time.monotonic()
        self._has_open_line = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._started_at < 2 or (now - self._printed_at < 1 and self._has_open_line):
            return
        self._printed_at, self._has_open_line = now, True
        print(f"\r{done:,} of {total:,}", end="", file=sys.stderr, flush=True)

    def finish(self) -> None:
        if self._has_open_line:
            print(file=sys.stderr)
