"""``cli.py study extraction``: the error rate of each extraction rule, and marks of single replies."""

from __future__ import annotations

import argparse
import csv
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.errors import InvalidValue
from domain.marks import AnswerMark
from domain.table_cells import escape_formula
from reader_study import service as studies
from reader_study.service import EXTRACTION_SAMPLE_SIZE
from storage.unit_of_work import read_only_session, unit_of_work


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    extraction = subcommands.add_parser(
        "extraction",
        help="print the error rate of each extraction rule, or list and mark a sample of replies",
        description="Prints CSV: rule, replies, marked, wrong, error_rate, low, high. With --rule, the "
        "random sample of a rule's replies. With --mark, save the mark of one of these replies.",
    )
    extraction.add_argument("study", metavar="NAME")
    extraction.add_argument("--rule", metavar="RULE", help="list the sample of this rule")
    extraction.add_argument(
        "--sample", type=int, default=EXTRACTION_SAMPLE_SIZE, metavar="N", help="size of the sample"
    )
    extraction.add_argument(
        "--mark",
        nargs=2,
        metavar=("NUMBER", "MARK"),
        help="mark the reply with this number of the sample of --rule: right or wrong",
    )
    extraction.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Mark a reply if requested; otherwise print the sample or the error rates as CSV."""
    by = command_line_person()
    with read_only_session() as db:
        check = studies.load_extraction_check(
            db, by=by, study=args.study, rule=args.rule, size=max(0, args.sample)
        )
    if args.mark:
        number, mark = args.mark
        if not (number.isdigit() and 1 <= int(number) <= len(check.sample)) or mark not in list(AnswerMark):
            raise InvalidValue(
                "mark",
                f"needs a number from 1 to {len(check.sample):,} and right or wrong, not {number} {mark}",
            )
        reply = check.sample[int(number) - 1]
        with unit_of_work() as db:
            studies.mark_extraction(
                db,
                by=by,
                study=args.study,
                reply=reply.id,
                revision=reply.revision + 1,
                mark=AnswerMark(mark),
                now=datetime.now(UTC),
            )
        print(f"Marked reply {number} of the rule {check.rule} as {mark}.")
        return 0
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if args.rule:
        writer.writerow(["number", "question_id", "reply", "answer", "mark"])
        for number, reply in enumerate(check.sample, start=1):
            prediction = reply.prediction
            answer = "" if prediction.answer is None else str(prediction.answer)
            texts = (reply.question.id, prediction.raw or "", answer, reply.mark or "")
            writer.writerow([number, *map(escape_formula, texts)])
        return 0
    writer.writerow(["rule", "replies", "marked", "wrong", "error_rate", "low", "high"])
    for rate in check.rates:
        writer.writerow(
            [rate.rule, rate.replies, rate.marked, rate.wrong, rate.estimate, rate.low, rate.high]
        )
    return 0
