"""A workspace whose disk can be filled and emptied while the app runs."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.conftest import RunningApp

_SIZE = "24m"


@contextmanager
def small_disk(folder: Path, *, size: str = _SIZE) -> Iterator[bool]:
    """Mount a file system of that size at that folder; yield whether this user may mount one."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def fill_disk(app: RunningApp, *, mounted: bool) -> Iterator[None]:
    """Prevent all further writes to the workspace.

    On a small disk of its own, one file takes all remaining space. Elsewhere, the size limit for files is set
    in the app's process: the same write then fails with another message of the system ("file too large").
    """
    if mounted:
        filler = app.home / "filler"
        with filler.open("wb", buffering=0) as filler_file:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        filler_file.write(b"\0" * size)
                except OSError:
                    continue
        yield
        filler.unlink()
        return
    old_limits = resource.prlimit(app.process, resource.RLIMIT_FSIZE)
    resource.prlimit(app.process, resource.RLIMIT_FSIZE, (1, old_limits[1]))
    yield
    resource.prlimit(app.process, resource.RLIMIT_FSIZE, old_limits)
