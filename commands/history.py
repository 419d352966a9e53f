"""``cli.py history``: all events of one question, in order of time."""

from __future__ import annotations

import argparse

from accounts.service import command_line_person
from browsing.service import history, question_number, told
from commands.arguments import Subparsers
from domain.questions import answer_text
from storage.unit_of_work import reading


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("history")
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument("question", metavar="QUESTION_ID")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the question as it was imported, then its events."""
    by = command_line_person()
    with reading() as db:
        number = question_number(db, by=by, dataset=args.dataset, question=args.question)
        found = history(db, by=by, question_number=number)
    question = found.question
    print(f"{question.id} ({question.format}), exam {question.exam_id}")
    print(question.stem)
    print(f"key: {answer_text(question.answer, question.options)}")
    for event in found.events:
        what, details = told(event, question)
        print(f"{event.when:%Y-%m-%d %H:%M:%S} UTC\t{event.who or 'command line'}\t{what}")
        for line in details:
            print(f"\t{line}")
    return 0
