"""Computed reports in the workspace's cache, named by the SHA-256 of their input."""

from __future__ import annotations

from pathlib import Path

from storage.result_cache import find_result_size, read_result, write_result
from storage.workspace import Workspace

#: The maximum number of cached reports. The least recently read ones are deleted first.
MAX_REPORTS = 200
_SUFFIX = ".json"


def find_report_size(workspace: Workspace, *, digest: str) -> int | None:
    """Return the size of the stored report in bytes, and mark it as used; None if it is not stored."""
    return find_result_size(_reports_folder(workspace), digest=digest, suffix=_SUFFIX)


def find_report(workspace: Workspace, *, digest: str) -> str | None:
    """Return the text of the report; None if it was never computed or has been deleted."""
    content = read_result(_reports_folder(workspace), digest=digest, suffix=_SUFFIX)
    return None if content is None else content.decode()


def save_report(workspace: Workspace, *, digest: str, text: str) -> None:
    """Store the report atomically. Concurrent calls with the same report are safe.

    Raises:
        OSError: it cannot be written; the error names the file.
    """
    write_result(
        _reports_folder(workspace), digest=digest, suffix=_SUFFIX, content=text.encode(),
        max_files=MAX_REPORTS,
    )  # fmt: skip


def _reports_folder(workspace: Workspace) -> Path:
    return workspace.cache / "reports"
