"""``cli.py study case``: the cases on which readers and models differ most, and one case with all answers."""

from __future__ import annotations

import argparse
import csv
import sys

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.questions import format_answer
from domain.table_cells import escape_formula
from measures.results import to_records
from reader_study import service as studies
from reader_study.report.files import records_to_csv
from storage.unit_of_work import read_only_session
from storage.workspace import current_workspace


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    case = subcommands.add_parser(
        "case",
        help="list the cases on which readers and models differ most, or print one with all answers",
        description="Prints CSV: the cases of a closed study, those with the greatest difference first; with "
        "--case, the key and the answer of each reader and model.",
    )
    case.add_argument("study", metavar="NAME")
    case.add_argument("--case", type=int, metavar="NUMBER", help="the number of a case of the list")
    case.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the list, or one case, as CSV."""
    by = command_line_person()
    if args.case is None:
        with read_only_session() as db:
            studies.check_may_compare(db, by=by, study=args.study)
            report = studies.load_or_compute_report(
                db, by=by, study=args.study, workspace=current_workspace()
            )
        print(records_to_csv(to_records(report.tables.case_differences)), end="")
        return 0
    with read_only_session() as db:
        compared_case = studies.load_compared_case(db, by=by, study=args.study, number=args.case)
    question = compared_case.case.question
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["rater", "kind", "arm", "answer", "correct", "confidence", "seconds", "boxes", "note"])
    key = format_answer(question.answer, question.options)
    writer.writerow(["the key", "reference", "", escape_formula(key), "yes", "", "", len(question.boxes), ""])
    for answer in compared_case.answers:
        texts = map(escape_formula, (answer.rater, answer.kind, answer.arm, answer.text))
        correct = {True: "yes", False: "no", None: ""}[answer.is_correct]
        note = escape_formula(answer.note)
        writer.writerow([*texts, correct, answer.confidence, answer.seconds, len(answer.boxes), note])
    return 0
