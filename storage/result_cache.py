"""Computed results in the workspace's cache, named by the SHA-256 of their input."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from domain.file_errors import add_filename_to_errors

_DIGEST = re.compile(r"[0-9a-f]{64}")


def find_result_size(folder: Path, *, digest: str, suffix: str) -> int | None:
    """Return the size of a result in bytes, and mark it as used; None if it is not stored."""
    if not _DIGEST.fullmatch(digest):
        return None
    path = folder / f"{digest}{suffix}"
    try:
        size = path.stat().st_size
    except OSError:
        return None
    with suppress(OSError):  # for example, the file was deleted in the meantime
        os.utime(path)
    return size


def read_result(folder: Path, *, digest: str, suffix: str) -> bytes | None:
    """Return the content of a result; None if it was never computed or has been deleted."""
    if not _DIGEST.fullmatch(digest):
        return None
    path = folder / f"{digest}{suffix}"
    try:
        content = path.read_bytes()
    except OSError:
        return None
    with suppress(OSError):  # for example, the file was deleted in the meantime; it is already loaded
        os.utime(path)
    return content


def write_result(folder: Path, *, digest: str, suffix: str, content: bytes, max_files: int) -> None:
    """Store a result atomically. Concurrent calls with the same result are safe.

    Args:
        folder: a folder with results of one kind only.
        digest: the SHA-256 of the input.
        suffix: the suffix of the files, such as ".json".
        content: the result.
        max_files: the maximum number of results. The least recently read ones are deleted first.

    Raises:
        OSError: it cannot be written; the error names the file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{digest}{suffix}"
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".incoming-")
    try:
        with add_filename_to_errors(path), os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)
    paths = sorted(folder.glob(f"*{suffix}"), key=_last_used_at)
    for old_path in paths[:-max_files]:
        old_path.unlink(missing_ok=True)


def _last_used_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process deleted results at the same time
        return 0.0
