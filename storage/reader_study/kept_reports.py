"""Reports that were computed, kept in the workspace's cache under the SHA-256 of what they were made of."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from storage.workspace import Workspace

#: Reports beyond this number go, those that were not looked at for longest first.
MOST = 200
_DIGEST = re.compile(r"[0-9a-f]{64}")


def find_report(workspace: Workspace, *, digest: str) -> str | None:
    """The text of the report; None where it was never computed, or has gone since."""
    if not _DIGEST.fullmatch(digest):
        return None
    path = _folder(workspace) / f"{digest}.json"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    with suppress(FileNotFoundError):  # it went in this moment; we have its text
        os.utime(path)
    return text


def keep_report(workspace: Workspace, *, digest: str, text: str) -> None:
    """Keep it, whole or not at all. Two that keep the same at once do no harm."""
    folder = _folder(workspace)
    folder.mkdir(parents=True, exist_ok=True)
    handle, incoming = tempfile.mkstemp(dir=folder, prefix=".incoming-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(incoming).replace(folder / f"{digest}.json")
    finally:
        Path(incoming).unlink(missing_ok=True)
    found = sorted(folder.glob("*.json"), key=_used)
    for path in found[:-MOST]:
        path.unlink(missing_ok=True)


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process made room at the same time
        return 0.0


def _folder(workspace: Workspace) -> Path:
    return workspace.cache / "reports"
