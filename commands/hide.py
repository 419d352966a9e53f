"""``cli.py hide``: hide repeats and planted faults in a batch, list them, remove them."""

from __future__ import annotations

import argparse
import secrets
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.hidden import DISTANCE, FINDABLE, HiddenPlan, PlantedFault
from review.service import (
    HiddenSummary,
    batch_named,
    hidden_lines,
    hide_questions,
    preview_hiding,
    remove_hidden,
)
from storage.unit_of_work import reading, unit_of_work


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
        "--distance", type=int, default=DISTANCE, metavar="N",
        help=f"questions between the first time and the second, at least (default {DISTANCE})",
    )  # fmt: skip
    parser.add_argument("--planted", type=int, default=0, metavar="N", help="for each reviewer (default 0)")
    parser.add_argument(
        "--faults", nargs="+", choices=[str(each) for each in PlantedFault], metavar="KIND",
        help=f"kinds to plant, by turns (default: all that can be found): {', '.join(PlantedFault)}",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--dry-run", action="store_true", help="show what would be hidden; hide nothing")
    way.add_argument("--list", action="store_true", help="show what is hidden, from whom")
    way.add_argument("--remove", nargs="+", type=int, metavar="NUMBER", help="of hidden questions, by --list")
    parser.add_argument("--reason", default="", help="with --remove: why")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Hide, list or remove. Returns 0; a refusal is raised; wrong usage ends with 2."""
    if bool(args.remove) != bool(args.reason):
        args.parser.error("--remove and --reason go together")
    by, now = command_line_person(), datetime.now(UTC)
    if args.list:
        return _list(args.batch)
    if args.remove:
        with unit_of_work() as db:
            done = remove_hidden(db, by=by, batch=args.batch, numbers=args.remove, why=args.reason, now=now)
        print(f"{done:,} hidden questions of {args.batch} were removed; they count no more.")
        return 0
    if args.dry_run:
        with reading() as db:
            _show(preview_hiding(db, by=by, batch=args.batch, plan=_plan(args)), "would get")
        return 0
    plan = _plan(args)
    with unit_of_work() as db:
        summary = hide_questions(db, by=by, batch=args.batch, plan=plan, veil=secrets.randbits(62), now=now)
    _show(summary, "got")
    return 0


def _plan(args: argparse.Namespace) -> HiddenPlan:
    with reading() as db:
        batch = batch_named(db, by=command_line_person(), name=args.batch)
    faults = tuple(PlantedFault(each) for each in args.faults or FINDABLE[batch.settings.parts])
    return HiddenPlan(
        repeats=0.1 if args.repeats is None else args.repeats,
        distance=args.distance,
        planted=args.planted,
        faults=faults,
        seed=args.seed,
    )


def _show(summary: HiddenSummary, verb: str) -> None:
    for each in summary.people:
        print(f"{each.person.name} {verb} {each.repeats:,} repeats and {each.planted:,} planted questions.")
    for fault, count in summary.faults.items():
        print(f"  {count:,} with {fault}")
    for note in summary.notes:
        print(note, file=sys.stderr)


def _list(batch: str) -> int:
    with reading() as db:
        lines = hidden_lines(db, by=command_line_person(), batch=batch)
    for each in lines:
        what = f"planted ({each.hidden.fault})" if each.hidden.fault else "repeat"
        state = "removed: " + each.hidden.removed_why if not each.hidden.counts else each.state or "to come"
        said = "" if each.decision is None else f"; said {each.decision}"
        first = "" if each.first is None else f", first {each.first}"
        seen = "" if each.seen is None else f", {each.seen}"
        print(
            f"{each.hidden.number}: {what} of {each.source_id} for {each.person}; {state}{said}{first}{seen}"
        )
    if not lines:
        print(f"Nothing is hidden in {batch}.", file=sys.stderr)
    return 0
