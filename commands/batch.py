"""``cli.py batch``: list the batches, or the questions of one batch, as CSV."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.batches import Batch
from domain.table_cells import harmless
from sampling.service import describe, list_batches, list_questions
from storage.unit_of_work import reading

if TYPE_CHECKING:
    from _csv import Writer


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("batch")
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
    """Write CSV to standard output; a refusal is raised."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    with reading() as db:
        if args.batch is None:
            _write_batches(out, list_batches(db, by=command_line_person()))
            return 0
        questions = list_questions(db, by=command_line_person(), batch=args.batch)
        out.writerow(["question_id", "stratum", "inclusion_probability", "state"])
        out.writerows(
            [harmless(each.key), harmless(each.stratum), each.inclusion_probability, each.state]
            for each in questions
        )
    return 0


def _write_batches(out: Writer, found: Iterable[tuple[Batch, int]]) -> None:
    out.writerow(["batch", "state", "questions", "mode", "parts", "plan"])
    for batch, questions in found:
        mode, parts = batch.settings.mode, batch.settings.parts
        out.writerow([harmless(batch.name), batch.state, questions, mode, parts, describe(batch.plan)])
