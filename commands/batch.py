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
from domain.table_cells import escape_formula
from sampling.service import describe_plan, list_batch_questions, list_batches
from storage.unit_of_work import read_only_session

if TYPE_CHECKING:
    from _csv import Writer


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("batch")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list")
    list_parser = verbs.add_parser(
        "list",
        help="list the questions of a batch, or all batches, as CSV",
        description="Columns with BATCH: question_id, stratum, inclusion_probability, state (unassigned, "
        "open, skipped, done). Columns without BATCH: batch, state, questions, mode, parts, plan.",
    )
    list_parser.add_argument(
        "batch", nargs="?", metavar="BATCH", help="name of a batch; default: list all batches"
    )
    list_parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write CSV to standard output. Returns 0; raises DomainError if refused."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    with read_only_session() as db:
        if args.batch is None:
            _write_batches(writer, list_batches(db, by=command_line_person()))
            return 0
        questions = list_batch_questions(db, by=command_line_person(), batch=args.batch)
        writer.writerow(["question_id", "stratum", "inclusion_probability", "state"])
        writer.writerows(
            [
                escape_formula(question.key),
                escape_formula(question.stratum),
                question.inclusion_probability,
                question.state,
            ]
            for question in questions
        )
    return 0


def _write_batches(writer: Writer, batches: Iterable[tuple[Batch, int]]) -> None:
    writer.writerow(["batch", "state", "questions", "mode", "parts", "plan"])
    for batch, question_count in batches:
        mode, parts = batch.settings.mode, batch.settings.parts
        writer.writerow(
            [escape_formula(batch.name), batch.state, question_count, mode, parts, describe_plan(batch.plan)]
        )
