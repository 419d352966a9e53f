"""``cli.py restore``: restore a workspace from a backup, with checks before and after."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person, record_restore
from commands.arguments import Subparsers
from commands.output import ProgressPrinter
from storage.backup import Manifest, check_backup, restore_backup
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "restore",
        description="Check the backup, restore it into the workspace, which must be empty, and compare "
        "rows and hashes of every table. A backup of SQLite can be restored into PostgreSQL and "
        "vice versa. Stop the app first. All people have to sign in again.",
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--check",
        action="store_true",
        help="only verify FILE: read all of it, restore its tables into a temporary SQLite "
        "database (in TMPDIR), and compare row counts and digests; the workspace is not changed",
    )
    mode.add_argument(
        "--replace",
        action="store_true",
        help="replace a workspace that is not empty: its files and an SQLite database are set aside, a "
        "database on a server is emptied",
    )
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Check or restore the backup. Returns 1 if images are missing, else 0."""
    now = datetime.now(UTC)
    if args.check:
        manifest = check_backup(args.file, progress=ProgressPrinter())
        print(f"{args.file} can be restored: {_describe(manifest)}")
        print(
            f"Checked: the hashes of the whole file; all {len(manifest.tables)} tables restored into a "
            "temporary database, with the row counts and digests of the backup, and with the columns, "
            "constraints and triggers of this version."
        )
        return 0
    workspace = current_workspace()
    restored = restore_backup(args.file, workspace, replace=args.replace, now=now, progress=ProgressPrinter())
    manifest = restored.manifest
    with unit_of_work() as db:
        record_restore(
            db,
            by=command_line_person(),
            file=args.file.name,
            made_at=manifest.made_at,
            rows=manifest.rows,
            images=manifest.images.count,
            now=now,
        )
    print(f"{workspace.home} was restored: {_describe(manifest)}")
    print(f"All {len(manifest.tables)} tables have the rows and the hashes of the backup.")
    print(
        f"Accounts and roles are as they were on {manifest.made_at:%Y-%m-%d %H:%M} UTC. All people have to "
        "sign in again."
    )
    if restored.previous_files is not None:
        print(f"The previous files are in {restored.previous_files}")
    for sha256 in restored.missing_images:
        print(f"The image {sha256} is missing. Import it again.", file=sys.stderr)
    return 1 if restored.missing_images else 0


def _describe(manifest: Manifest) -> str:
    return (
        f"{manifest.rows:,} rows of {len(manifest.tables)} tables, {manifest.images.count:,} images, "
        f"{len(manifest.files):,} other files, of {manifest.made_at:%Y-%m-%d %H:%M} UTC."
    )
