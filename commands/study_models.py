"""``cli.py study models``: list the models that answered a study's cases, or choose those in the study."""

from __future__ import annotations

import argparse
import csv
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.table_cells import escape_formula
from reader_study import service as studies
from storage.unit_of_work import read_only_session, unit_of_work


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    models = subcommands.add_parser(
        "models",
        help="list the models with the number of answered cases, or choose the models of the study",
        description="The models of a study are part of its protocol; each change is a new version. "
        "Prints CSV: model, chosen, answered, cases, simulated.",
    )
    models.add_argument("study", metavar="NAME")
    models.add_argument("--add", nargs="+", default=[], metavar="MODEL")
    models.add_argument("--remove", nargs="+", default=[], metavar="MODEL")
    # --why is the previous name of the option
    models.add_argument(
        "--reason", "--why", default="", help="reason for the change; required after the first answer"
    )
    models.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Add or remove models if requested, then print all models as CSV."""
    by = command_line_person()
    if args.add or args.remove:
        with unit_of_work() as db:
            studies.choose_models(
                db,
                by=by,
                study=args.study,
                add=args.add,
                remove=args.remove,
                reason=args.reason,
                now=datetime.now(UTC),
            )
    with read_only_session() as db:
        models = studies.list_study_models(db, by=by, study=args.study)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["model", "chosen", "answered", "cases", "simulated"])
    for model in models:
        writer.writerow(
            [
                escape_formula(model.name),
                "yes" if model.chosen else "no",
                model.answered,
                model.cases,
                "yes" if model.simulated else "no",
            ]
        )
    return 0
