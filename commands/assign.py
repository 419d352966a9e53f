"""``cli.py assign``: assign the questions of a batch to reviewers, reassign them, unassign them."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
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
        description="Give every question of a batch that lacks a reviewer to these people: by exam, and "
        "evenly. What is assigned already is not moved. To add a second reviewer later, assign again with "
        "--overlap 2. With --reassign the open questions of one person go to the others.",
    )
    parser.add_argument("batch", metavar="BATCH")
    parser.add_argument("--to", nargs="+", metavar="NAME", help="sign-in names of reviewers")
    parser.add_argument(
        "--overlap", type=int, default=1, metavar="K", help="so many people judge each question (default 1)"
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--reassign", metavar="FROM", help="move this person's open questions")
    mode.add_argument("--withdraw", metavar="FROM", help="take this person's open questions back")
    mode.add_argument(
        "--second-where-found",
        action="store_true",
        help="give a second reviewer where the first found something, and to the random --second-share",
    )
    mode.add_argument(
        "--shared", action="store_true", help="let them take questions one by one, as they are free"
    )
    parser.add_argument(
        "--idle",
        type=int,
        metavar="MINUTES",
        help=(
            "with --shared: a question comes back after so long without activity (default"
            f" {DEFAULT_IDLE_MINUTES})"
        ),
    )
    parser.add_argument(
        "--second-share",
        type=float,
        metavar="SHARE",
        help="give a second reviewer to this random share of the batch, such as 0.2",
    )
    parser.add_argument("--seed", type=int, help="of the random share (default: the batch's, else 0)")
    parser.add_argument("--dry-run", action="store_true", help="show who would get how many; assign nothing")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Assign, and print how many questions each reviewer got.

    Returns 0; a refusal is raised; wrong usage ends with 2.
    """
    if (args.to is None) == (args.withdraw is None):
        args.parser.error("say --to NAME..., or --withdraw FROM")
    from_person = args.reassign or args.withdraw
    if from_person and (args.overlap != 1 or args.dry_run):
        args.parser.error("--overlap and --dry-run go with --to alone")
    if args.shared and args.dry_run:
        args.parser.error("--dry-run shows who would get how many; with --shared nobody knows beforehand")
    if args.idle is not None and not args.shared:
        args.parser.error("--idle goes with --shared")
    second = args.second_where_found or args.second_share is not None
    if second and (args.overlap != 1 or from_person or args.shared):
        args.parser.error("--second-share and --second-where-found go with --to, --seed and --dry-run alone")
    if args.seed is not None and not second:
        args.parser.error("--seed goes with --second-share")
    by, now = command_line_person(), datetime.now(UTC)
    if second:
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
        print(f"{count:,} open questions of {args.withdraw} were taken back; they are with nobody now.")
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
        "where_found": args.second_where_found, "share": args.second_share, "seed": args.seed,
    }  # fmt: skip
    if args.dry_run:
        with read_only_session() as db:
            summary = preview_second_opinions(db, **options)
    else:
        with unit_of_work() as db:
            summary = request_second_opinions(db, **options, now=datetime.now(UTC))
    for name, count in summary.assigned.items():
        print(
            f"{name} {'would get' if args.dry_run else 'got'} {count_text(count, 'question')}"
            f" of {summary.batch}."
        )
    print(
        f"Of them {summary.random_count:,} of the random share, {summary.found_count:,} where something was"
        " found."
    )
    for note in summary.notes:
        print(note, file=sys.stderr)
    return 0


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
        f"{', '.join(shared_queue.members)} can take questions of {shared_queue.batch} now:"
        f" {shared_queue.added:,} judgements were added, {shared_queue.free:,} are free. One comes back after"
        f" {shared_queue.idle_minutes} minutes without activity."
    )
    return 0


def _print_summary(summary: AssignSummary, verb: str) -> None:
    for name, count in summary.assigned.items():
        print(f"{name} {verb} {count_text(count, 'question')} of {summary.batch}.")
    for note in summary.notes:
        print(note, file=sys.stderr)
