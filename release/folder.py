"""Writes and hashes the files of a release in a temporary folder, which is moved into place atomically."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from domain.file_errors import add_filename_to_errors

MANIFEST = "manifest.json"
_BUFFER_BYTES = 1 << 18  # bytes that are collected before they are hashed and written
_encoder = msgspec.json.Encoder()


class HashedFile:
    """A file that is written sequentially; its length and SHA-256 are known after it is closed."""

    def __init__(self, path: Path) -> None:
        """Create the file, which must not exist."""
        self._path = path
        self._file = path.open("xb")
        self._hash = hashlib.sha256()
        self._buffer = bytearray()
        self.bytes = 0

    def write(self, content: bytes) -> None:
        self._buffer += content
        if len(self._buffer) > _BUFFER_BYTES:
            self._write_buffer()

    def write_json_line(self, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """Write one line of JSON; keys keep their order."""
        buffer = self._buffer
        _encoder.encode_into(value, buffer, -1)  # -1: append to the buffer
        buffer.append(0x0A)
        if len(buffer) > _BUFFER_BYTES:
            self._write_buffer()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file and flush it to the disk, unless there was an error."""
        try:
            if kind is None:
                self._write_buffer()
                with add_filename_to_errors(self._path):
                    self._file.flush()
                    os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def _write_buffer(self) -> None:
        """Hash and write the buffered lines together; one call per line would be slow."""
        with add_filename_to_errors(self._path):
            self._file.write(self._buffer)
        self._hash.update(self._buffer)
        self.bytes += len(self._buffer)
        self._buffer.clear()


@contextmanager
def staging_folder(target: Path) -> Iterator[Path]:
    """Create a temporary folder next to ``target``.

    It is deleted at the end of the block unless it was moved.

    Args:
        target: the final folder.

    Raises:
        OSError: the folder can't be created.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.incoming-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def move_into_place(folder: Path, target: Path) -> bool:
    """Move a folder into place atomically.

    Returns:
        True if the folder was moved. False if the target exists and is not empty; nothing is moved then.
    """
    for subfolder in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        _sync_folder(subfolder)
    try:
        folder.rename(target)
    except OSError:  # the target is a file, or a folder that is not empty
        if not target.exists():
            raise
        return False
    _sync_folder(target.parent)
    return True


def copy_image(source: Path, target: Path, *, sha256: str) -> int:
    """Copy an image file and check its hash.

    Returns:
        The number of bytes.

    Raises:
        FileNotFoundError: the source does not exist.
        ValueError: the file has a different SHA-256.
    """
    with source.open("rb") as file, HashedFile(target) as copy:
        while block := file.read(1 << 20):
            copy.write(block)
    if copy.sha256 != sha256:
        raise ValueError(f"the image {sha256} was changed in the workspace")
    return copy.bytes


def hash_file(path: Path) -> tuple[str, int]:
    """Return the SHA-256 of a file and its length in bytes."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return digest.hexdigest(), file.tell()


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
