"""``cli.py batch``: the batches there are, and the questions of one, as CSV."""

from __future__ import annotations

import argparse
import csv
import sys

from accounts.service import command_line_person
from domain.errors import DomainError
from domain.table_cells import harmless
from sampling.service import describe, list_batches, list_questions
from storage.unit_of_work import reading


def add_to(subparsers: argparse._SubParsersAction) -> None:
    """The command and what it takes."""
    parser = subparsers.add_parser("batch", help="list batches, or the questions of one")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list")
    listing = verbs.add_parser(
        "list",
        help="CSV of a batch's questions, or of all batches",
        description="With a batch: question_id, stratum, inclusion_probability, state (unassigned, open, "
        "skipped, done). Without: batch, state, questions, mode, parts, plan.",
    )
    listing.add_argument("batch", nargs="?", metavar="BATCH", help="a batch; without one all are listed")
    listing.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write CSV to standard output; 0 done, 1 refused."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    try:
        with reading() as db:
            if args.batch is None:
                out.writerow(["batch", "state", "questions", "mode", "parts", "plan"])
                for batch, questions in list_batches(db, by=command_line_person()):
                    settings = batch.settings
                    out.writerow(
                        [
                            harmless(batch.name),
                            batch.state,
                            questions,
                            settings.mode,
                            settings.parts,
                            describe(batch.plan),
                        ]
                    )
                return 0
            questions = list_questions(db, by=command_line_person(), batch=args.batch)
            out.writerow(["question_id", "stratum", "inclusion_probability", "state"])
            out.writerows(
                [each.key, each.stratum, each.inclusion_probability, each.state] for each in questions
            )
    except DomainError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
