"""``cli.py assign``: assign, reassign or unassign the questions of a batch."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.second_opinions import SecondOpinionScope
from review.service import (
    DEFAULT_IDLE_MINUTES,
    AssignSummary,
    assign,
    preview_assign,
    preview_second_opinions,
    reassign,
    request_second_opinions,
    share_batch,
    withdraw,
)
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "assign",
        description="Assign all questions of a batch that lack a reviewer evenly to these people, by exam. "
        "Existing assignments are kept. To add a second reviewer later, assign again with --overlap 2. "
        "--reassign moves the open questions of one person to the others.",
    )
    parser.add_argument("batch", metavar="BATCH")
    parser.add_argument("--to", nargs="+", metavar="NAME", help="sign-in names of reviewers")
    parser.add_argument(
        "--overlap", type=int, default=1, metavar="K", help="reviewers per question (default 1)"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--reassign", metavar="FROM", help="move this person's open questions")
    mode.add_argument("--withdraw", metavar="FROM", help="unassign this person's open questions")
    mode.add_argument(
        "--second-where-found",
        action="store_true",
        help="assign a second reviewer to questions with a reported error, and to a random --second-share",
    )
    mode.add_argument(
        "--second-by-information",
        type=int,
        metavar="N",
        help="assign a further reviewer to the N questions in which a verdict is expected to bring the most "
        "information, and to a random --second-share",
    )
    mode.add_argument(
        "--shared",
        action="store_true",
        help="let the reviewers take questions one by one from a shared queue",
    )
    parser.add_argument(
        "--idle",
        type=int,
        metavar="MINUTES",
        help=(
            "with --shared: minutes without activity after which a question returns to the queue (default "
            f"{DEFAULT_IDLE_MINUTES})"
        ),
    )
    parser.add_argument(
        "--second-share",
        type=float,
        metavar="SHARE",
        help="assign a second reviewer to this random share of the batch, such as 0.2",
    )
    parser.add_argument(
        "--seed", type=int, help="seed of the random share (default: the seed of the batch, else 0)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show the number of questions per reviewer without assigning"
    )
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Assign the questions, and print the number of questions per reviewer.

    Returns 0; raises DomainError if refused. Wrong usage exits with status 2.
    """
    if (args.to is None) == (args.withdraw is None):
        args.parser.error("--to NAME... or --withdraw FROM is required")
    from_person = args.reassign or args.withdraw
    if from_person and (args.overlap != 1 or args.dry_run):
        args.parser.error("--overlap and --dry-run can only be used with --to")
    if args.shared and args.dry_run:
        args.parser.error(
            "--dry-run cannot be used with --shared: the number of questions per reviewer is not known in "
            "advance"
        )
    if args.idle is not None and not args.shared:
        args.parser.error("--idle can only be used with --shared")
    is_second_opinion = args.second_where_found or args.second_share is not None
    is_second_opinion = is_second_opinion or args.second_by_information is not None
    if is_second_opinion and (args.overlap != 1 or from_person or args.shared):
        args.parser.error(
            "--second-share, --second-where-found and --second-by-information can only be used with --to, "
            "--seed and --dry-run"
        )
    if args.seed is not None and not is_second_opinion:
        args.parser.error("--seed can only be used with --second-share")
    by, now = command_line_person(), datetime.now(UTC)
    if is_second_opinion:
        return _request_second_opinions(args)
    if args.shared:
        return _share_batch(args)
    if args.dry_run:
        with read_only_session() as db:
            _print_summary(
                preview_assign(db, by=by, batch=args.batch, to=args.to, overlap=args.overlap), "would get"
            )
        return 0
    if args.withdraw:
        with unit_of_work() as db:
            count = withdraw(db, by=by, batch=args.batch, from_=args.withdraw, now=now)
        print(f"{count_text(count, 'open question')} of {args.withdraw} unassigned.")
        return 0
    with unit_of_work() as db:
        if args.reassign:
            summary = reassign(db, by=by, batch=args.batch, from_=args.reassign, to=args.to, now=now)
        else:
            summary = assign(db, by=by, batch=args.batch, to=args.to, overlap=args.overlap, now=now)
    _print_summary(summary, "got")
    return 0


def _request_second_opinions(args: argparse.Namespace) -> int:
    options = {
        "by": command_line_person(), "batch": args.batch, "to": args.to,
        "scope": _get_scope(args), "share": args.second_share, "seed": args.seed,
        "informative": args.second_by_information or 0,
    }  # fmt: skip
    if args.dry_run:
        with read_only_session() as db:
            summary = preview_second_opinions(db, **options)
    else:
        with unit_of_work() as db:
            summary = request_second_opinions(db, **options, now=datetime.now(UTC))
    for name, count in summary.assigned.items():
        print(
            f"{name} {'would get' if args.dry_run else 'got'} {count_text(count, 'question')} of "
            f"{summary.batch}."
        )
    print(
        f"Of these, {summary.random_count:,} from the random share and {summary.added_count:,} because of "
        "their verdicts."
    )
    for note in summary.notes:
        print(note, file=sys.stderr)
    return 0


def _get_scope(args: argparse.Namespace) -> SecondOpinionScope:
    if args.second_by_information is not None:
        return SecondOpinionScope.SHARE_AND_INFORMATION
    if args.second_where_found:
        return SecondOpinionScope.SHARE_AND_ERRORS
    return SecondOpinionScope.RANDOM_SHARE


def _share_batch(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        shared_queue = share_batch(
            db,
            by=command_line_person(),
            batch=args.batch,
            to=args.to,
            overlap=args.overlap,
            idle_minutes=DEFAULT_IDLE_MINUTES if args.idle is None else args.idle,
            now=datetime.now(UTC),
        )
    print(
        f"{', '.join(shared_queue.members)} can take questions of {shared_queue.batch} now: "
        f"{count_text(shared_queue.added, 'judgement')} added, {shared_queue.free:,} free. A question "
        f"returns to the queue after {count_text(shared_queue.idle_minutes, 'minute')} without activity."
    )
    return 0


def _print_summary(summary: AssignSummary, verb: str) -> None:
    for name, count in summary.assigned.items():
        print(f"{name} {verb} {count_text(count, 'question')} of {summary.batch}.")
    for note in summary.notes:
        print(note, file=sys.stderr)
