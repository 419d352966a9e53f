"""A file of JSON lines that a release has only if there is a record for it (origins, errata)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from release.folder import HashedFile
from release.manifest import Entry


class OptionalFile:
    """A file that is created with its first record, so releases without records do not have it."""

    def __init__(self, path: Path) -> None:
        """``path`` must not exist."""
        self._path = path
        self._file: HashedFile | None = None

    def add(self, record: Mapping[str, Any] | None) -> None:
        """Write a record; None writes nothing."""
        if record is None:
            return
        if self._file is None:
            self._file = HashedFile(self._path)
        self._file.write_json_line(record)

    def close(self, kind: type[BaseException] | None) -> None:
        """Close the file and flush it to the disk, unless there was an error."""
        if self._file is not None:
            self._file.__exit__(kind, None, None)

    def list_entries(self) -> list[Entry]:
        """The manifest's entry for the file; empty if it was not created."""
        if self._file is None:
            return []
        return [Entry(path=self._path.name, bytes=self._file.bytes, sha256=self._file.sha256)]
