"""``cli.py find``: search the questions of a dataset by words and properties."""

from __future__ import annotations

import argparse
import csv
import sys

from accounts.service import command_line_person
from browsing.service import Standing, count_found, find
from commands.arguments import Subparsers
from commands.indexing import bring_up_to_date
from commands.searching import add_filters, search_of
from domain.table_cells import harmless
from storage.unit_of_work import reading

_COLUMNS = ("question_id", "format", "task", "difficulty", "category", "exam_id", "decisions", "stem")


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "find",
        description="All words must be in id, stem, options or explanation; words in quotation marks stand "
        "together, and a star makes a beginning: 'effus*'. Prints CSV.",
    )
    add_filters(parser)
    parser.add_argument("--standing", choices=[each.value for each in Standing])
    parser.add_argument("--batch", metavar="BATCH")
    parser.add_argument("--most", type=int, default=50, metavar="N", help="print so many; default 50")
    parser.add_argument("--count", action="store_true", help="only say how many there are")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Update the search index, and print the matching questions."""
    if args.most < 1:
        args.parser.error("--most must be 1 or more")
    standing = Standing(args.standing) if args.standing else None
    search = search_of(args, standing=standing, batch=args.batch)
    bring_up_to_date()
    by = command_line_person()
    with reading() as db:
        if args.count:
            count, whole = count_found(db, by=by, search=search)
            print(f"{count:,}{'' if whole else ' or more'}")
            return 0
        out = csv.writer(sys.stdout)
        out.writerow(_COLUMNS)
        after, left = 0, args.most
        while left > 0:
            page = find(db, by=by, search=search, after=after, most=min(left, 500))
            for each in page.questions:
                values = (each.id, each.format, each.task, each.difficulty, each.category, each.exam_id,
                          " ".join(each.decisions), each.stem)  # fmt: skip
                out.writerow([harmless(str(value or "")) for value in values])
            if not page.after:
                break
            left -= len(page.questions)
            after = page.questions[-1].number
    return 0
