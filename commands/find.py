"""``cli.py find``: search the questions of a dataset by words and properties."""

from __future__ import annotations

import argparse
import csv
import sys

from accounts.service import command_line_person
from browsing.service import QuestionStatus, count_matches, search_questions
from commands.arguments import Subparsers
from commands.search_arguments import add_filters, build_search
from commands.search_index import update_search_index
from domain.table_cells import escape_formula
from storage.unit_of_work import read_only_session

_COLUMNS = ("question_id", "format", "task", "difficulty", "category", "exam_id", "decisions", "stem")


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "find",
        description="Each word must occur in the id, stem, options or explanation. Words in quotation marks "
        "form a phrase. An asterisk matches any ending, as in 'effus*'. Prints CSV.",
    )
    add_filters(parser)
    parser.add_argument(  # --standing is the option's previous name
        "--status", "--standing", choices=[status.value for status in QuestionStatus]
    )
    parser.add_argument("--batch", metavar="BATCH")
    parser.add_argument(
        "--most", type=int, default=50, metavar="N", help="maximum number of questions (default 50)"
    )
    parser.add_argument("--count", action="store_true", help="print only the number of matches")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Update the search index, and print the matching questions as CSV."""
    if args.most < 1:
        args.parser.error("--most must be 1 or more")
    status = QuestionStatus(args.status) if args.status else None
    search = build_search(args, status=status, batch=args.batch)
    update_search_index()
    by = command_line_person()
    with read_only_session() as db:
        if args.count:
            count, is_exact = count_matches(db, by=by, search=search)
            print(f"{count:,}{'' if is_exact else ' or more'}")
            return 0
        writer = csv.writer(sys.stdout)
        writer.writerow(_COLUMNS)
        last_row_id, remaining = 0, args.most
        while remaining > 0:
            page = search_questions(db, by=by, search=search, after=last_row_id, most=min(remaining, 500))
            for question in page.questions:
                values = (
                    question.id,
                    question.format,
                    question.task,
                    question.difficulty,
                    question.category,
                    question.exam_id,
                    " ".join(question.decisions),
                    question.stem,
                )
                writer.writerow([escape_formula(str(value or "")) for value in values])
            if not page.has_next:
                break
            remaining -= len(page.questions)
            last_row_id = page.questions[-1].number
    return 0
