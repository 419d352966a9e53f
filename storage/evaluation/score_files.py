"""Files with scores of questions in the workspace's cache, named by the SHA-256 of their input."""

from __future__ import annotations

from pathlib import Path

from storage.result_cache import read_result, write_result
from storage.workspace import Workspace

#: The maximum number of files. The least recently read ones are deleted first.
MAX_FILES = 500
_SUFFIX = ".npz"


def find_scores(workspace: Workspace, *, digest: str) -> bytes | None:
    """Return the content of a file; None if it was never computed or has been deleted."""
    return read_result(_folder(workspace), digest=digest, suffix=_SUFFIX)


def has_scores(workspace: Workspace, *, digest: str) -> bool:
    """Return whether the file exists."""
    return (_folder(workspace) / f"{digest}{_SUFFIX}").is_file()


def save_scores(workspace: Workspace, *, digest: str, content: bytes) -> None:
    """Store a file atomically.

    Raises:
        OSError: it cannot be written; the error names the file.
    """
    write_result(_folder(workspace), digest=digest, suffix=_SUFFIX, content=content, max_files=MAX_FILES)


def _folder(workspace: Workspace) -> Path:
    return workspace.cache / "scores"
