"""What a backup says of itself: its last member, ``manifest.json``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import msgspec

FORMAT = "overread.backup/1"
NAME = "manifest.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInBackup:
    """A table: its rows, and the SHA-256 of all its lines in the order of the primary key."""

    name: str
    columns: dict[str, str]
    rows: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesInBackup:
    """The image files: ``sha256`` is that of their names in order, a line each; the names are hashes.

    ``missing`` were not there, or had other bytes, when it was made; with ``left_out`` none were taken.
    """

    count: int
    bytes: int
    sha256: str
    missing: tuple[str, ...] = ()
    left_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInBackup:
    """A further file of the workspace, by its path from there."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All of it. ``revision`` is that of the tables (Alembic's), ``home`` where the workspace was."""

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
        """Rows in all tables."""
        return sum(table.rows for table in self.tables)

    def to_bytes(self) -> bytes:
        """JSON that a person can read too."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @classmethod
    def from_bytes(cls, content: bytes) -> Manifest:
        """The inverse of :meth:`to_bytes`.

        Raises:
            ValueError: it is no such text.
        """
        return msgspec.json.decode(content, type=cls)
