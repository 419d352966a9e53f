"""``cli.py workspace``: show or change the patient data rules of the workspace."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.patient_data import Originals, PixelCheckScope
from privacy.service import CONSEQUENCES, change_rules, load_rules
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "workspace",
        description="Without options, print the rules. "
        + " ".join(f"{choice.value}: {text}" for choice, text in CONSEQUENCES.items()),
    )
    parser.add_argument(
        "--originals",
        choices=[choice.value for choice in Originals],
        help="what the workspace keeps of an image file",
    )
    parser.add_argument(
        "--confirm-pixels",
        choices=[choice.value for choice in PixelCheckScope],
        help="which images must be checked for burned-in text before a release",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Apply the changes, then print the rules with their meaning."""
    by = command_line_person()
    if args.originals or args.confirm_pixels:
        with unit_of_work() as db:
            change_rules(
                db,
                by=by,
                originals=Originals(args.originals) if args.originals else None,
                confirm_pixels=PixelCheckScope(args.confirm_pixels) if args.confirm_pixels else None,
                revision=load_rules(db, by=by).revision,
                now=datetime.now(UTC),
            )
    with read_only_session() as db:
        current_rules = load_rules(db, by=by)
    print(f"originals: {current_rules.originals}\n    {CONSEQUENCES[current_rules.originals]}")
    print(f"confirm-pixels: {current_rules.confirm_pixels}\n    {CONSEQUENCES[current_rules.confirm_pixels]}")
    return 0
