"""``cli.py import boxes``: give existing questions the boxes of a COCO file or of Label Studio's export."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.output import print_refusals
from domain.count_texts import count_text
from domain.file_errors import add_filename_to_errors
from intake.service.box_corrections import (
    BoxLabels,
    BoxMatch,
    BoxPlan,
    correct_boxes,
    plan_box_corrections,
)
from storage.unit_of_work import read_only_session, unit_of_work

_MAX_SHOWN = 20


def add_kind(kinds: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    boxes = kinds.add_parser(
        "boxes",
        help="give existing questions the boxes of a COCO file or of Label Studio's JSON export",
        description="Without --yes, print what would change. Each change is in the audit trail with the "
        "boxes before and after. Questions in a batch, a study or a release are not changed.",
    )
    boxes.add_argument("file", type=Path, metavar="FILE")
    boxes.add_argument("--dataset", required=True, metavar="NAME")
    boxes.add_argument(
        "--match",
        type=BoxMatch,
        choices=list(BoxMatch),
        default=BoxMatch.AUTO,
        help="by question id, by image, or by question id where the file states one (auto, the default)",
    )
    boxes.add_argument(
        "--labels",
        type=BoxLabels,
        choices=list(BoxLabels),
        default=BoxLabels.MENTIONED,
        help="which boxes of an image a question gets: those whose label its stem, options or category "
        "mention (default), or all",
    )
    boxes.add_argument(
        "--replace", action="store_true", help="replace existing boxes on the annotated radiographs"
    )
    # --why is the previous name of the option
    boxes.add_argument(
        "--reason", "--why", default="", metavar="TEXT", help="reason for the change; required with --yes"
    )
    boxes.add_argument("--skip-bad", action="store_true", help="change questions although boxes are refused")
    boxes.add_argument("--yes", action="store_true", help="carry out the change")
    boxes.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the plan, and carry it out if requested. Returns 0, or 1 after printing refused boxes."""
    by = command_line_person()
    with add_filename_to_errors(args.file):
        content = args.file.read_bytes()
    options: dict[str, Any] = {
        "by": by, "dataset": args.dataset, "content": content, "match": args.match, "labels": args.labels,
        "replace": args.replace,
    }  # fmt: skip
    with read_only_session() as db:
        plan = plan_box_corrections(db, **options)
    _print_plan(plan, args.file.name)
    if plan.refusals and not args.skip_bad:
        if args.yes:
            print("Nothing was changed. Correct the file, or add --skip-bad.", file=sys.stderr)
        return 1
    if not args.yes:
        print("Preview only; nothing was changed. Add --reason and --yes to carry it out.", file=sys.stderr)
        return 0
    with unit_of_work() as db:
        correct_boxes(
            db,
            **options,
            file=args.file.name,
            reason=args.reason,
            expected=plan.hash_changes(),
            now=datetime.now(UTC),
        )
    print(f"Changed the boxes of {count_text(len(plan.changes), 'question')}.")
    print(f"Repeat the structural checks: cli.py check {args.dataset}")
    return 0


def _print_plan(plan: BoxPlan, file: str) -> None:
    headline, *remarks = plan.describe(file)
    print(headline)
    for change in plan.changes[:_MAX_SHOWN]:
        before, after = change.describe()
        print(f"  {change.key}: {before} → {after}")
    if len(plan.changes) > _MAX_SHOWN:
        print(f"  … and {len(plan.changes) - _MAX_SHOWN:,} more")
    for sentence in remarks:
        print(sentence)
    print_refusals(plan.refusals, count=len(plan.refusals), limit=_MAX_SHOWN)
