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
    undo_rule,
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
        description="Without --yes, print a preview with examples; nothing is changed.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="reject | queue | undo | list")
    for verb, help_ in (
        ("reject", "exclude all matching questions from later draws and releases"),
        ("queue", "put all matching questions into a new batch, which is not a random sample"),
    ):
        step = verbs.add_parser(verb, help=help_)
        add_filters(step)
        step.add_argument("--reason", required=True, metavar="TEXT", help="what is wrong with the questions")
        if verb == "queue":
            step.add_argument("--into", required=True, metavar="BATCH", help="name of the new batch")
        step.add_argument("--yes", action="store_true", help="carry out the action")
        step.set_defaults(run=_apply, verb=verb)
    # "back" is the command's previous name
    undo_parser = verbs.add_parser("undo", aliases=["back"], help="undo a rule")
    undo_parser.add_argument("rule", type=int, metavar="RULE")
    undo_parser.add_argument("--reason", required=True, metavar="TEXT")
    undo_parser.set_defaults(run=_undo_rule)
    list_parser = verbs.add_parser("list", help="list all rules")
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
        print("Preview only; nothing was changed. Add --yes to carry it out.", file=sys.stderr)
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
    print(f"To undo the rule: cli.py apply undo {rule.number} --reason …")
    return 0


def _undo_rule(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        rule = undo_rule(
            db, by=command_line_person(), rule=args.rule, reason=args.reason, now=datetime.now(UTC)
        )
    print(f"Rule {rule.number} was undone; {count_text(rule.questions, 'question')} can be drawn again.")
    return 0


def _list_rules(args: argparse.Namespace) -> int:
    with read_only_session() as db:
        rules = list_applied_rules(db, by=command_line_person(), dataset=args.dataset)
    if not rules:
        print("No rules yet. To create one, see: cli.py apply reject --help", file=sys.stderr)
    for rule in rules:
        state = "active" if rule.undone_at is None else f"undone {rule.undone_at:%Y-%m-%d %H:%M} UTC"
        applied_at = f"{rule.applied_at:%Y-%m-%d %H:%M} UTC"
        print(
            f"{rule.number}\t{rule.dataset}\t{rule.action}\t{count_text(rule.questions, 'question')}\t"
            f"{describe_search(rule.search)}\t{rule.reason}\t{rule.person}\t{applied_at}\t{state}"
        )
    return 0


def _print_preview(preview: BulkPreview) -> None:
    print(f"{count_text(preview.count, 'question')} would be included.")
    for reason, count in preview.excluded.items():
        print(f"{count:,} excluded: {reason}.")
    for example in preview.examples:
        print(f"  {example.id}\t{example.stem}")
