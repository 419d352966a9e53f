"""``cli.py apply``: reject or queue all unreviewed questions that match a search, and undo this."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from browsing.service import (
    BulkPreview,
    describe_search,
    list_bulk_actions,
    preview_bulk_action,
    queue_matching,
    reject_matching,
    undo_bulk_action,
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
        description="Reject or queue all questions that match a search and are not drawn, judged or rejected "
        "yet, or undo such a bulk action. Without --yes, only a preview with examples is printed.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="reject | queue | undo | list")
    for verb, help_ in (
        ("reject", "exclude all matching questions from later draws and releases"),
        ("queue", "put all matching questions into a new batch, which is not a random sample"),
    ):
        action_parser = verbs.add_parser(verb, help=help_)
        add_filters(action_parser)
        action_parser.add_argument(
            "--reason", required=True, metavar="TEXT", help="what is wrong with the questions"
        )
        if verb == "queue":
            action_parser.add_argument("--into", required=True, metavar="BATCH", help="name of the new batch")
        action_parser.add_argument("--yes", action="store_true", help="carry out the action")
        action_parser.set_defaults(run=_apply, verb=verb)
    # "back" is the command's previous name
    undo_parser = verbs.add_parser("undo", aliases=["back"], help="undo a bulk action")
    undo_parser.add_argument("number", type=int, metavar="NUMBER", help="the number of the bulk action")
    undo_parser.add_argument("--reason", required=True, metavar="TEXT")
    undo_parser.set_defaults(run=_undo)
    list_parser = verbs.add_parser("list", help="list all bulk actions")
    list_parser.add_argument("dataset", nargs="?", metavar="DATASET")
    list_parser.set_defaults(run=_list)


def _apply(args: argparse.Namespace) -> int:
    search = build_search(args)
    update_search_index()
    by = command_line_person()
    with read_only_session() as db:
        preview = preview_bulk_action(db, by=by, search=search)
    _print_preview(preview, outcome="rejected" if args.verb == "reject" else "queued")
    if not args.yes:
        print("Preview only; nothing was changed. Add --yes to carry it out.", file=sys.stderr)
        return 0
    options = {"by": by, "search": search, "reason": args.reason, "expected": preview.count}
    with unit_of_work() as db:
        now = datetime.now(UTC)
        if args.verb == "reject":
            applied = reject_matching(db, now=now, **options)
            outcome = "rejected"
        else:
            applied = queue_matching(db, now=now, batch_name=args.into, **options)
            outcome = f"queued in batch {applied.batch}"
    print(f"Bulk action {applied.number}: {count_text(applied.questions, 'question')} {outcome}.")
    print(f"To undo it: cli.py apply undo {applied.number} --reason …")
    return 0


def _undo(args: argparse.Namespace) -> int:
    with unit_of_work() as db:
        undone = undo_bulk_action(
            db, by=command_line_person(), number=args.number, reason=args.reason, now=datetime.now(UTC)
        )
    print(
        f"Bulk action {undone.number} was undone; {count_text(undone.questions, 'question')} can be drawn "
        "again."
    )
    return 0


def _list(args: argparse.Namespace) -> int:
    with read_only_session() as db:
        bulk_actions = list_bulk_actions(db, by=command_line_person(), dataset=args.dataset)
    if not bulk_actions:
        print("No bulk actions yet. To carry one out, see: cli.py apply reject --help", file=sys.stderr)
    for applied in bulk_actions:
        state = "active" if applied.undone_at is None else f"undone {applied.undone_at:%Y-%m-%d %H:%M} UTC"
        applied_at = f"{applied.applied_at:%Y-%m-%d %H:%M} UTC"
        print(
            f"{applied.number}\t{applied.dataset}\t{applied.action}\t"
            f"{count_text(applied.questions, 'question')}\t{describe_search(applied.search)}\t"
            f"{applied.reason}\t{applied.person}\t{applied_at}\t{state}"
        )
    return 0


def _print_preview(preview: BulkPreview, *, outcome: str) -> None:
    print(f"{count_text(preview.count, 'question')} would be {outcome}.")
    for reason, count in preview.excluded.items():
        print(f"{count:,} excluded: {reason}.")
    for example in preview.examples:
        print(f"  {example.id}\t{example.stem}")
