"""``cli.py history``: all events of one question, in order of time."""

from __future__ import annotations

import argparse

from accounts.service import command_line_person
from browsing.history_text import describe_call, describe_evidence, describe_origin
from browsing.service import describe_event, load_history, load_question_row_id
from commands.arguments import Subparsers
from domain.questions import format_answer
from storage.unit_of_work import read_only_session


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("history")
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument("question", metavar="QUESTION_ID")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the question as it was imported, its origin if it is known, then its events."""
    by = command_line_person()
    with read_only_session() as db:
        row_id = load_question_row_id(db, by=by, dataset=args.dataset, question_id=args.question)
        question_history = load_history(db, by=by, question_row_id=row_id)
    question = question_history.question
    print(f"{question.id} ({question.format}), exam {question.exam_id}")
    print(question.stem)
    print(f"key: {format_answer(question.answer, question.options)}")
    if question_history.provenance:
        print(describe_origin(question_history.provenance, question.source))
        for evidence in question_history.provenance.evidence:
            print(f"\t{describe_evidence(evidence)}")
        for call in question_history.provenance.calls:
            print(f"\t{describe_call(call)}, run {call.run}, request {call.request}, call {call.key}")
    for event in question_history.events:
        description, details = describe_event(event, question)
        print(
            f"{event.occurred_at:%Y-%m-%d %H:%M:%S} UTC\t{event.person_name or 'command line'}\t{description}"
        )
        for line in details:
            print(f"\t{line}")
    return 0
