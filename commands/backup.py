"""``cli.py backup``: write the whole workspace to one file while the app is in use."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person, record_backup
from commands.arguments import Subparsers
from commands.checkpoints import take_checkpoint_after_job
from commands.output import ProgressPrinter, format_size
from domain.errors import DomainError
from storage.backup import make_backup
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "backup",
        description="Write database, images, releases and lists of refused records to one file. The file "
        "appears when it is complete, and only its owner can read it. `cli.py restore --check FILE` "
        "verifies it. The app can be used during the backup, which contains everything saved before the "
        "command began.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="name of the backup, such as overread.backup")
    parser.add_argument(
        "--replace", action="store_true", help="replace an existing FILE when the backup is complete"
    )
    parser.add_argument(
        "--without-images", action="store_true", help="exclude the images, if they are backed up separately"
    )
    # A backup must also be possible before an upgrade, so tables of an older version are not upgraded first.
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Make the backup and record it in the audit trail. Returns 1 if images are missing, else 0."""
    now = datetime.now(UTC)
    backup = make_backup(
        current_workspace(),
        args.file,
        with_images=not args.without_images,
        replace=args.replace,
        now=now,
        progress=ProgressPrinter(),
    )
    manifest = backup.manifest
    if backup.is_current:
        try:
            with unit_of_work() as db:
                record_backup(
                    db,
                    by=command_line_person(),
                    file=backup.path.name,
                    sha256=backup.sha256,
                    rows=manifest.rows,
                    images=manifest.images.count,
                    now=now,
                )
            take_checkpoint_after_job()
        except DomainError as error:  # the backup itself is complete
            print(f"The backup could not be recorded in the audit trail: {error}", file=sys.stderr)
    print(
        f"{backup.path}: {manifest.rows:,} rows of {len(manifest.tables)} tables, {manifest.images.count:,} "
        f"images, {len(manifest.files):,} other files; {format_size(backup.bytes)}."
    )
    print(f"Sealed with SHA-256 {backup.sha256}")
    for sha256 in manifest.images.missing:
        print(
            f"The image {sha256} is missing or was changed, so the backup does not contain it.",
            file=sys.stderr,
        )
    return 1 if manifest.images.missing else 0
