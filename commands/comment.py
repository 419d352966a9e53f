"""``cli.py comment``: list the comments between reviewers and coordinators, or answer one."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from browsing.service import load_question_row_id
from commands.arguments import Subparsers
from domain.count_texts import count_text
from review.service import list_comment_threads, write_to_reviewer
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("comment")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    list_parser = verbs.add_parser(
        "list", help="list the threads in which the reviewer wrote last, or all with --all"
    )
    list_parser.add_argument("--all", action="store_true", help="include answered threads")
    list_parser.set_defaults(run=run_list)
    write = verbs.add_parser("write", help="write to a reviewer about a question")
    write.add_argument("dataset", metavar="DATASET")
    write.add_argument("question", metavar="QUESTION_ID")
    write.add_argument("--batch", required=True, metavar="NAME")
    write.add_argument("--to", required=True, metavar="REVIEWER", help="sign-in name")
    write.add_argument("--text", required=True)
    write.set_defaults(run=run_write)


def run_list(args: argparse.Namespace) -> int:
    """Print each thread with its comments."""
    with read_only_session() as db:
        threads = list_comment_threads(db, by=command_line_person(), open_only=not args.all)
    if not threads:
        kind = "comments" if args.all else "open comments"
        print(f"No {kind}. Reviewers write them on the form of a question.", file=sys.stderr)
    for thread in threads:
        state = "answered" if thread.is_answered else "open"
        print(
            f"{thread.dataset}\t{thread.question_id}\tbatch {thread.batch}\t{thread.reviewer}\t{state}, "
            f"{count_text(len(thread.comments), 'comment')}"
        )
        for comment in thread.comments:
            print(f"\t{comment.written_at:%Y-%m-%d %H:%M:%S} UTC\t{comment.author_name}: {comment.text}")
    return 0


def run_write(args: argparse.Namespace) -> int:
    """Write a comment to a reviewer's thread."""
    by = command_line_person()
    with unit_of_work() as db:
        write_to_reviewer(
            db,
            by=by,
            batch=args.batch,
            question_row_id=load_question_row_id(db, by=by, dataset=args.dataset, question_id=args.question),
            reviewer=args.to,
            text=args.text,
            now=datetime.now(UTC),
        )
    print(f"Written to {args.to}.")
    return 0
