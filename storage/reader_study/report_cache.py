"""Computed reports in the workspace's cache, named by the SHA-256 of their input."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from domain.file_errors import add_filename_to_errors
from storage.workspace import Workspace

#: The maximum number of cached reports. The least recently read ones are deleted first.
MAX_REPORTS = 200
_DIGEST = re.compile(r"[0-9a-f]{64}")


def find_report(workspace: Workspace, *, digest: str) -> str | None:
    """Return the text of the report; None if it was never computed or has been deleted."""
    if not _DIGEST.fullmatch(digest):
        return None
    path = _reports_folder(workspace) / f"{digest}.json"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return None
    with suppress(OSError):  # for example, the file was deleted in the meantime; its text is already loaded
        os.utime(path)
    return text


def save_report(workspace: Workspace, *, digest: str, text: str) -> None:
    """Store the report atomically. Concurrent calls with the same report are safe.

    Raises:
        OSError: it cannot be written; the error names the file.
    """
    folder = _reports_folder(workspace)
    folder.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".incoming-")
    try:
        with (
            add_filename_to_errors(folder / f"{digest}.json"),
            os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file,
        ):
            file.write(text)
        Path(temporary).replace(folder / f"{digest}.json")
    finally:
        Path(temporary).unlink(missing_ok=True)
    paths = sorted(folder.glob("*.json"), key=_last_used_at)
    for path in paths[:-MAX_REPORTS]:
        path.unlink(missing_ok=True)


def _last_used_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process deleted reports at the same time
        return 0.0


def _reports_folder(workspace: Workspace) -> Path:
    return workspace.cache / "reports"
