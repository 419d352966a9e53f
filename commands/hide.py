"""``cli.py hide``: hide repeats and planted faults in a batch, list them, remove them."""

from __future__ import annotations

import argparse
import secrets
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.hidden import DEFAULT_DISTANCE, DETECTABLE_FAULTS, HiddenPlan, PlantedFault
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
        description="Hide from each reviewer of a batch a share of their own questions a second time, and "
        "questions with a known fault. Reviewers can't tell them, and nothing counts them but "
        "`cli.py attention`. Said again, it adds only what is lacking.",
    )
    parser.add_argument("batch", metavar="BATCH")
    parser.add_argument(
        "--repeats", type=float, metavar="SHARE", default=None, help="of their questions (default 0.1)"
    )
    parser.add_argument(
        "--distance", type=int, default=DEFAULT_DISTANCE, metavar="N",
        help=f"questions between the first time and the second, at least (default {DEFAULT_DISTANCE})",
    )  # fmt: skip
    parser.add_argument("--planted", type=int, default=0, metavar="N", help="for each reviewer (default 0)")
    parser.add_argument(
        "--faults", nargs="+", choices=[str(fault) for fault in PlantedFault], metavar="KIND",
        help=f"kinds to plant, by turns (default: all that can be found): {', '.join(PlantedFault)}",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="show what would be hidden; hide nothing")
    mode.add_argument("--list", action="store_true", help="show what is hidden, from whom")
    mode.add_argument(
        "--remove", nargs="+", type=int, metavar="NUMBER", help="of hidden questions, by --list"
    )
    parser.add_argument("--reason", default="", help="with --remove: why")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Hide, list or remove. Returns 0; a refusal is raised; wrong usage ends with 2."""
    if bool(args.remove) != bool(args.reason):
        args.parser.error("--remove and --reason go together")
    by, now = command_line_person(), datetime.now(UTC)
    if args.list:
        return _list_hidden(args.batch)
    if args.remove:
        with unit_of_work() as db:
            done = remove_hidden(db, by=by, batch=args.batch, numbers=args.remove, why=args.reason, now=now)
        print(f"{done:,} hidden questions of {args.batch} were removed; they count no more.")
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
        repeats=0.1 if args.repeats is None else args.repeats,
        distance=args.distance,
        planted=args.planted,
        faults=faults,
        seed=args.seed,
    )


def _print_summary(summary: HiddenSummary, verb: str) -> None:
    for reviewer in summary.people:
        print(
            f"{reviewer.person.name} {verb} {reviewer.repeats:,} repeats and {reviewer.planted:,} planted"
            " questions."
        )
    for fault, count in summary.faults.items():
        print(f"  {count:,} with {fault}")
    for note in summary.notes:
        print(note, file=sys.stderr)


def _list_hidden(batch: str) -> int:
    with read_only_session() as db:
        lines = list_hidden_questions(db, by=command_line_person(), batch=batch)
    for line in lines:
        kind = f"planted ({line.hidden.fault})" if line.hidden.fault else "repeat"
        state = (
            "removed: " + line.hidden.removed_why if not line.hidden.is_counted else line.state or "to come"
        )
        decision_text = "" if line.decision is None else f"; said {line.decision}"
        first_text = "" if line.first_decision is None else f", first {line.first_decision}"
        seen_text = "" if line.detection is None else f", {line.detection}"
        print(
            f"{line.hidden.number}: {kind} of {line.source_id} for {line.person};"
            f" {state}{decision_text}{first_text}{seen_text}"
        )
    if not lines:
        print(f"Nothing is hidden in {batch}.", file=sys.stderr)
    return 0
