"""``cli.py apply``: reject or queue all unreviewed questions that match a search, and undo this."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from browsing.service import (
    BulkPreview,
    describe_search,
    list_applied_rules,
    preview_bulk_action,
    queue_matching,
    reject_matching,
    revert_rule,
)
from commands.arguments import Subparsers
from commands.search_arguments import add_filters, build_search
from commands.search_index import update_search_index
from domain.count_texts import count_text
from storage.unit_of_work import read_only_session, unit_of_work


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
    back_parser = verbs.add_parser("back", help="take a rule back")
    back_parser.add_argument("rule", type=int, metavar="RULE")
    back_parser.add_argument("--reason", required=True, metavar="TEXT")
    back_parser.set_defaults(run=_take_rule_back)
    list_parser = verbs.add_parser("list", help="list what was applied")
    list_parser.add_argument("dataset", nargs="?", metavar="DATASET")
    list_parser.set_defaults(run=_list_rules)


def _apply(args: argparse.Namespace) -> int:
    search = build_search(args)
    update_search_index()
    by = command_line_person()
    with read_only_session() as db:
        preview = preview_bulk_action(db, by=by, search=search)
    _print_preview(preview)
    if not args.yes:
        print("Nothing was done yet: say --yes to do it.", file=sys.stderr)
        return 0
    options = {"by": by, "search": search, "reason": args.reason, "expected": preview.count}
    with unit_of_work() as db:
        now = datetime.now(UTC)
        if args.verb == "reject":
            rule = reject_matching(db, now=now, **options)
            print(f"Rule {rule.number}: {count_text(rule.questions, 'question')} rejected.")
        else:
            rule = queue_matching(db, now=now, batch_name=args.into, **options)
            print(
                f"Rule {rule.number}: {count_text(rule.questions, 'question')} queued in batch {rule.batch}."
            )
    print(f"To take it back: apply back {rule.number} --reason …")
    return 0


def _take_rule_back(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        rule = revert_rule(
            db, by=command_line_person(), rule=args.rule, reason=args.reason, now=datetime.now(UTC)
        )
    print(f"Rule {rule.number} holds no more; {count_text(rule.questions, 'question')} can be drawn again.")
    return 0


def _list_rules(args: argparse.Namespace) -> int:
    with read_only_session() as db:
        rules = list_applied_rules(db, by=command_line_person(), dataset=args.dataset)
    if not rules:
        print("Nothing is applied yet: cli.py apply reject --help", file=sys.stderr)
    for rule in rules:
        state = "holds" if rule.reverted_at is None else f"taken back {rule.reverted_at:%Y-%m-%d %H:%M} UTC"
        applied_at = f"{rule.applied_at:%Y-%m-%d %H:%M} UTC"
        print(
            f"{rule.number}\t{rule.dataset}\t{rule.action}\t{count_text(rule.questions, 'question')}\t"
            f"{describe_search(rule.search)}\t{rule.reason}\t{rule.person}\t{applied_at}\t{state}"
        )
    return 0


def _print_preview(preview: BulkPreview) -> None:
    print(f"{count_text(preview.count, 'question')} would be taken.")
    for reason, count in preview.excluded.items():
        print(f"{count:,} are left out: {reason}.")
    for example in preview.examples:
        print(f"  {example.id}\t{example.stem}")
