"""The manifest of a backup: its last member, ``manifest.json``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import msgspec

from records.decoding import decode_json

FORMAT = "overread.backup/1"
NAME = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInBackup:
    """A table: its columns, its number of rows, and the SHA-256 of its lines in primary key order."""

    name: str
    columns: dict[str, str]
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesInBackup:
    """The image files. ``sha256`` is the hash of their sorted names, one per line; the names are hashes.

    ``missing`` has the files that did not exist or had changed when the backup was made. ``left_out`` is True
    if the backup was made without images.
    """

    count: int
    bytes: int
    sha256: str
    missing: tuple[str, ...] = ()
    left_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInBackup:
    """Another file of the workspace; its path is relative to the workspace."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The manifest. ``revision`` is the Alembic revision of the tables, ``home`` the workspace's folder."""

    format: str
    made_at: datetime
    version: str
    revision: str
    database: str
    home: str
    tables: tuple[TableInBackup, ...]
    images: ImagesInBackup
    files: tuple[FileInBackup, ...]

    @property
    def rows(self) -> int:
        """The number of rows in all tables."""
        return sum(table.rows for table in self.tables)

    def to_bytes(self) -> bytes:
        """Return the manifest as indented JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @classmethod
    def from_bytes(cls, content: bytes) -> Manifest:
        """Return the manifest that :meth:`to_bytes` wrote.

        Raises:
            ValueError: the text is not a manifest.
        """
        return decode_json(content, cls)
