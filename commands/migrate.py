"""``cli.py migrate``: upgrade the tables of an older version, after a backup."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from commands.arguments import Subparsers
from storage.backup import back_up_before_migration
from storage.schema import prepare_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "migrate",
        description="Upgrade the tables to this version. First, a backup without images is written to the "
        "folder `backups` of the workspace. Starting the app does the same. Most other commands refuse to "
        "work with tables of an older version. Stop the app first.",
    )
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:  # noqa: ARG001 - all commands have this signature
    """Back up the workspace and upgrade the tables."""

    def back_up(revision: str) -> None:
        backup = back_up_before_migration(revision, now=datetime.now(UTC))
        print(f"Backup before the migration: {backup}")

    prepare_workspace(before_migration=back_up)
    print("The tables are up to date.")
    return 0
