"""``cli.py check``: run the four structural checks on a dataset."""

from __future__ import annotations

import argparse
import sys

from accounts.service import command_line_person
from domain.problems import Check
from quality.service import check_dataset, examples
from storage.unit_of_work import unit_of_work


def add_to(subparsers: argparse._SubParsersAction) -> None:
    """The command and what it takes."""
    parser = subparsers.add_parser(
        "check",
        help="run the structural checks on a dataset",
        description="Schema, types, format and completeness, on every question. What is found is kept with "
        "the dataset and shown on the page Checks; the questions stay.",
    )
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument(
        "--minimum-explanation", type=int, metavar="N", help="characters; kept as the dataset's setting"
    )
    parser.add_argument(
        "--examples", type=int, default=3, metavar="N", help="so many of each check (default 3)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check and print what was found, by check; finding something is no failure."""
    told = False

    def progress(done: int, of: int) -> None:
        nonlocal told
        if done % 20_000 == 0:
            told = True
            print(f"\r{done:,} of {of:,}", end="", file=sys.stderr, flush=True)

    with unit_of_work() as db:
        by = command_line_person()
        found = check_dataset(
            db, by=by, dataset=args.dataset, minimum_explanation=args.minimum_explanation, progress=progress
        )
        if told:
            print(file=sys.stderr)
        print(f"{found.dataset}: {found.with_problems:,} of {found.questions:,} questions have a problem.")
        for check in Check:
            print(f"{check}: {found.of(check):,} of {found.questions:,}")
            for each in found.counts:
                if each.check is check:
                    print(f"    {each.field}: {each.questions:,}")
            for example in examples(db, by=by, dataset=args.dataset, check=check, count=args.examples):
                print(f"    e.g. {example.question_id}: {example.problem.field} {example.problem.reason}")
    return 0
