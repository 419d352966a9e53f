"""Verification of a backup: names, order and content of all members are checked before any is used."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Any

from storage.backup.archive import BackupDamaged, open_members
from storage.backup.manifest import FORMAT, NAME, FileInBackup, Manifest
from storage.workspace import BACKED_UP

_IMAGE = re.compile(r"images/([0-9a-f]{64})")
_PART = re.compile(r"tables/([a-z][a-z0-9_]{0,62})/([0-9]{6})\.jsonl\.gz")
_LARGEST_PART = 1 << 30
_LARGEST_MANIFEST = 1 << 28
_BLOCK = 1 << 20


class _TableDigest:
    """Count and hash of a table's lines so far."""

    def __init__(self) -> None:
        self.parts = self.rows = 0
        self._hash = hashlib.sha256()

    def add(self, lines: bytes) -> None:
        self.parts += 1
        self.rows += lines.count(b"\n")
        self._hash.update(lines)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


@dataclass(slots=True)
class _Contents:
    """The members read so far. ``images`` is the hash of the names of the images.

    ``count`` and ``bytes`` are the number of images and their size.
    """

    tables: dict[str, _TableDigest] = field(default_factory=dict)
    files: dict[str, FileInBackup] = field(default_factory=dict)
    images: Any = field(default_factory=hashlib.sha256)
    count: int = 0
    bytes: int = 0
    last_image: str = ""


def verify_archive(file: IO[bytes], *, progress: Callable[[int], None] = lambda _: None) -> Manifest:
    """Read an open backup completely and compare each part with the manifest.

    Args:
        file: the open file; it is read from its beginning.
        progress: a function that is called with the number of bytes read.

    Raises:
        BackupDamaged: the file was truncated or altered, or has a member that Overread does not write; the
            message states which.
    """
    contents, manifest = _Contents(), None
    with open_members(file) as members:
        for name, content in members:
            if manifest is not None:
                raise BackupDamaged(f"{name!r} comes after the end of the backup.")
            if name == NAME:
                manifest = _parse_manifest(content)
            elif match := _IMAGE.fullmatch(name):
                _read_image(contents, match[1], content)
            elif match := _PART.fullmatch(name):
                _read_part(contents, match[1], int(match[2]), content)
            else:
                _read_file(contents, validate_path(name), content)
            progress(file.tell())
    if manifest is None:
        raise BackupDamaged("The backup has no manifest.")
    _compare_with_manifest(contents, manifest)
    return manifest


def validate_path(name: str) -> str:
    """Return the path, relative to the workspace, of a member ``files/…``.

    Raises:
        BackupDamaged: the path leads outside the workspace.
    """
    path = PurePosixPath(name.removeprefix("files/"))
    is_plain = name == f"files/{path}" and not path.is_absolute() and "\x00" not in name and "\\" not in name
    if not is_plain or ".." in path.parts or path.parts[0] not in BACKED_UP:
        raise BackupDamaged(f"The backup contains {name!r}, which would be written outside the workspace.")
    return str(path)


def decompress_part(content: IO[bytes]) -> bytes:
    """Decompress the lines of one part of a table."""
    reader = zlib.decompressobj(wbits=31)
    try:
        lines = reader.decompress(content.read(), _LARGEST_PART)
    except zlib.error as error:
        raise BackupDamaged("A table in the backup cannot be unpacked.") from error
    if not reader.eof or reader.unused_data or not lines.endswith(b"\n"):
        raise BackupDamaged("A table in the backup cannot be unpacked.")
    return lines


def parse_table_name(name: str) -> str | None:
    """Return the table of a member; None for other members."""
    match = _PART.fullmatch(name)
    return match[1] if match else None


def parse_image_name(name: str) -> str | None:
    """Return the SHA-256 of an image member; None for other members."""
    match = _IMAGE.fullmatch(name)
    return match[1] if match else None


def iterate_blocks(content: IO[bytes]) -> Iterator[bytes]:
    """Yield the content in blocks of one megabyte."""
    while block := content.read(_BLOCK):
        yield block


def _parse_manifest(content: IO[bytes]) -> Manifest:
    text = content.read(_LARGEST_MANIFEST)
    if f'"format": "{FORMAT}"'.encode() not in text:
        raise BackupDamaged(
            f"The file does not have the format {FORMAT}; it may be from a newer version of Overread."
        )
    try:
        return Manifest.from_bytes(text)
    except ValueError as error:
        raise BackupDamaged(f"The manifest of the backup cannot be read: {error}.") from error


def _read_image(contents: _Contents, sha256: str, content: IO[bytes]) -> None:
    digest = hashlib.sha256()
    for block in iterate_blocks(content):
        digest.update(block)
        contents.bytes += len(block)
    if digest.hexdigest() != sha256 or sha256 <= contents.last_image:
        raise BackupDamaged(f"The image {sha256} in the backup has different content or is duplicated.")
    contents.images.update(f"{sha256}\n".encode())
    contents.count, contents.last_image = contents.count + 1, sha256


def _read_part(contents: _Contents, table: str, number: int, content: IO[bytes]) -> None:
    table_digest = contents.tables.setdefault(table, _TableDigest())
    if number != table_digest.parts + 1:
        raise BackupDamaged(f"A part of table {table} is missing from the backup or is duplicated.")
    table_digest.add(decompress_part(content))


def _read_file(contents: _Contents, path: str, content: IO[bytes]) -> None:
    digest, length = hashlib.sha256(), 0
    for block in iterate_blocks(content):
        digest.update(block)
        length += len(block)
    if path in contents.files:
        raise BackupDamaged(f"The backup contains {path!r} twice.")
    contents.files[path] = FileInBackup(path=path, bytes=length, sha256=digest.hexdigest())


def _compare_with_manifest(contents: _Contents, manifest: Manifest) -> None:
    expected = {table.name: (table.rows, table.sha256) for table in manifest.tables if table.rows}
    actual = {
        name: (table_digest.rows, table_digest.sha256) for name, table_digest in contents.tables.items()
    }
    images = (contents.count, contents.bytes, contents.images.hexdigest())
    expected_images = manifest.images
    if (
        actual != expected
        or images != (expected_images.count, expected_images.bytes, expected_images.sha256)
        or contents.files != {file.path: file for file in manifest.files}
    ):
        raise BackupDamaged("The content of the backup does not match its manifest.")
