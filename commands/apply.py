"""``cli.py apply``: reject or queue all unreviewed questions that match a search, and undo this."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from browsing.service import (
    ApplyPreview,
    applied_rules,
    preview_apply,
    queue_like,
    reject_like,
    said,
    take_rule_back,
)
from commands.arguments import Subparsers
from commands.indexing import bring_up_to_date
from commands.searching import add_filters, search_of
from storage.unit_of_work import reading, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "apply",
        description="Without --yes it only says what it would take, with examples.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="reject | queue | back | list")
    for verb, help_ in (
        ("reject", "keep all that is found out of later draws and releases"),
        ("queue", "put all that is found into a new batch, which is no random sample"),
    ):
        step = verbs.add_parser(verb, help=help_)
        add_filters(step)
        step.add_argument("--reason", required=True, metavar="TEXT", help="what is wrong with them")
        if verb == "queue":
            step.add_argument("--into", required=True, metavar="BATCH", help="the new batch's name")
        step.add_argument("--yes", action="store_true", help="do it")
        step.set_defaults(run=_apply, verb=verb)
    back = verbs.add_parser("back", help="take a rule back")
    back.add_argument("rule", type=int, metavar="RULE")
    back.add_argument("--reason", required=True, metavar="TEXT")
    back.set_defaults(run=_back)
    listing = verbs.add_parser("list", help="list what was applied")
    listing.add_argument("dataset", nargs="?", metavar="DATASET")
    listing.set_defaults(run=_list)


def _apply(args: argparse.Namespace) -> int:
    search = search_of(args)
    bring_up_to_date()
    by = command_line_person()
    with reading() as db:
        seen = preview_apply(db, by=by, search=search)
    _print_preview(seen)
    if not args.yes:
        print("Nothing was done yet: say --yes to do it.", file=sys.stderr)
        return 0
    asked = {"by": by, "search": search, "reason": args.reason, "expected": seen.count}
    with unit_of_work() as db:
        now = datetime.now(UTC)
        if args.verb == "reject":
            rule = reject_like(db, now=now, **asked)
            print(f"Rule {rule.number}: {rule.questions:,} questions are rejected.")
        else:
            rule = queue_like(db, now=now, batch_name=args.into, **asked)
            print(f"Rule {rule.number}: {rule.questions:,} questions are queued in batch {rule.batch}.")
    print(f"To take it back: apply back {rule.number} --reason …")
    return 0


def _back(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        rule = take_rule_back(
            db, by=command_line_person(), rule=args.rule, reason=args.reason, now=datetime.now(UTC)
        )
    print(f"Rule {rule.number} holds no more; {rule.questions:,} questions can be drawn again.")
    return 0


def _list(args: argparse.Namespace) -> int:
    with reading() as db:
        rules = applied_rules(db, by=command_line_person(), dataset=args.dataset)
    if not rules:
        print("Nothing is applied yet: cli.py apply reject --help", file=sys.stderr)
    for each in rules:
        state = "holds" if each.back_at is None else f"taken back {each.back_at:%Y-%m-%d %H:%M} UTC"
        at = f"{each.applied_at:%Y-%m-%d %H:%M} UTC"
        print(
            f"{each.number}\t{each.dataset}\t{each.what}\t{each.questions:,} questions\t"
            f"{said(each.search)}\t{each.reason}\t{each.by}\t{at}\t{state}"
        )
    return 0


def _print_preview(seen: ApplyPreview) -> None:
    print(f"{seen.count:,} questions would be taken.")
    for reason, count in seen.left_out.items():
        print(f"{count:,} are left out: {reason}.")
    for each in seen.examples:
        print(f"  {each.id}\t{each.stem}")
