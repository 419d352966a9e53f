"""The backup that is made before tables are upgraded."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from storage.backup.backup_writer import make_backup
from storage.workspace import current_workspace

#: How many of these backups are kept in the workspace.
_MAX_BACKUPS = 3


def back_up_before_migration(revision: str, *, now: datetime) -> Path:
    """Write a backup to the folder ``backups`` of the workspace, and keep the newest three.

    The backup has no images, because no migration changes them.

    Args:
        revision: the revision of the tables before the upgrade.
        now: the current time.

    Raises:
        NotNow, OSError: as :func:`storage.backup.make_backup`.
    """
    workspace = current_workspace()
    folder = workspace.home / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    # Several processes may start at the same time, so the name contains the process id.
    path = folder / f"before-migration-from-{revision}-{now:%Y%m%dT%H%M%SZ}-{os.getpid()}.backup"
    make_backup(workspace, path, with_images=False, now=now)
    backups = sorted(folder.glob("before-migration-*.backup"), key=lambda file: file.stat().st_mtime)
    for old_backup in backups[:-_MAX_BACKUPS]:
        old_backup.unlink(missing_ok=True)
    return path
