"""``cli.py hide``: hide repeats and planted faults in a batch, list them, remove them."""

from __future__ import annotations

import argparse
import secrets
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.hidden import DEFAULT_MIN_DISTANCE, DETECTABLE_FAULTS, HiddenPlan, PlantedFault
from review.service import (
    HiddenSummary,
    hide_questions,
    list_hidden_questions,
    load_named_batch,
    preview_hiding,
    remove_hidden,
)
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "hide",
        description="Add hidden questions to those of each reviewer: repeats of their own questions, and "
        "questions with a known fault. Reviewers cannot recognise them, and only `cli.py attention` "
        "counts them. If it is repeated with the same plan, the command adds only missing questions.",
    )
    parser.add_argument("batch", metavar="BATCH")
    parser.add_argument(
        "--repeats",
        type=float,
        metavar="SHARE",
        default=None,
        help="share of the reviewer's questions to repeat (default 0.1)",
    )
    parser.add_argument(
        "--distance", type=int, default=DEFAULT_MIN_DISTANCE, metavar="N",
        help=f"minimum number of questions between first showing and repeat (default {DEFAULT_MIN_DISTANCE})",
    )  # fmt: skip
    parser.add_argument(
        "--planted", type=int, default=0, metavar="N", help="planted questions per reviewer (default 0)"
    )
    parser.add_argument(
        "--planted-every", type=int, default=0, metavar="N",
        help="instead of --planted: one planted question for every N of the reviewer's questions",
    )  # fmt: skip
    parser.add_argument(
        "--faults", nargs="+", choices=[str(fault) for fault in PlantedFault], metavar="KIND",
        help=f"kinds of fault, used in turn (default: all reportable kinds): {', '.join(PlantedFault)}",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="show the plan without hiding questions")
    mode.add_argument("--list", action="store_true", help="list the hidden questions of each reviewer")
    mode.add_argument(
        "--remove",
        nargs="+",
        type=int,
        metavar="NUMBER",
        help="remove hidden questions by their numbers in the output of --list",
    )
    parser.add_argument("--reason", default="", help="reason for the removal, with --remove")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Hide, list or remove questions.

    Returns 0; raises DomainError if refused. Wrong usage exits with status 2.
    """
    if bool(args.remove) != bool(args.reason):
        args.parser.error("--remove and --reason must be used together")
    by, now = command_line_person(), datetime.now(UTC)
    if args.list:
        return _list_hidden(args.batch)
    if args.remove:
        with unit_of_work() as db:
            removed_count = remove_hidden(
                db, by=by, batch=args.batch, numbers=args.remove, reason=args.reason, now=now
            )
        print(
            f"{count_text(removed_count, 'hidden question')} of {args.batch} removed; they are no "
            "longer counted."
        )
        return 0
    if args.dry_run:
        with read_only_session() as db:
            _print_summary(preview_hiding(db, by=by, batch=args.batch, plan=_build_plan(args)), "would get")
        return 0
    plan = _build_plan(args)
    with unit_of_work() as db:
        summary = hide_questions(
            db, by=by, batch=args.batch, plan=plan, mask_secret=secrets.randbits(62), now=now
        )
    _print_summary(summary, "got")
    return 0


def _build_plan(args: argparse.Namespace) -> HiddenPlan:
    with read_only_session() as db:
        batch = load_named_batch(db, by=command_line_person(), name=args.batch)
    faults = tuple(PlantedFault(name) for name in args.faults or DETECTABLE_FAULTS[batch.settings.parts])
    return HiddenPlan(
        repeat_share=0.1 if args.repeats is None else args.repeats,
        min_distance=args.distance,
        planted_count=args.planted,
        planted_every=args.planted_every,
        faults=faults,
        seed=args.seed,
    )


def _print_summary(summary: HiddenSummary, verb: str) -> None:
    for reviewer in summary.people:
        print(
            f"{reviewer.person.name} {verb} {count_text(reviewer.repeats, 'repeat')} and "
            f"{count_text(reviewer.planted, 'planted question')}."
        )
    for fault, count in summary.faults.items():
        print(f"  {count:,} with {fault}")
    for note in summary.notes:
        print(note, file=sys.stderr)


def _list_hidden(batch: str) -> int:
    with read_only_session() as db:
        hidden_lines = list_hidden_questions(db, by=command_line_person(), batch=batch)
    for line in hidden_lines:
        kind = f"planted ({line.hidden.fault})" if line.hidden.fault else "repeat"
        state = (
            "removed: " + line.hidden.removal_reason
            if not line.hidden.is_counted
            else line.state or "not shown yet"
        )
        decision_text = "" if line.decision is None else f"; verdict {line.decision}"
        first_decision_text = "" if line.first_decision is None else f", first verdict {line.first_decision}"
        detection_text = "" if line.detection is None else f", {line.detection}"
        print(
            f"{line.hidden.question_row_id}: {kind} of {line.source_question_id} for {line.person};"
            f" {state}{decision_text}{first_decision_text}{detection_text}"
        )
    if not hidden_lines:
        print(f"No hidden questions in {batch}.", file=sys.stderr)
    return 0
