"""Writing a release's folder: aside first, each file on the disk with its SHA-256, then in one step."""

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

from domain.file_errors import naming

MANIFEST = "manifest.json"
_AT_ONCE = 1 << 18  # bytes that wait until they are hashed and written together
_encoder = msgspec.json.Encoder()


class HashedFile:
    """A file that is written once, front to back; its length and SHA-256 are known once it is closed."""

    def __init__(self, path: Path) -> None:
        """Open it; it must not be there yet."""
        self._path = path
        self._file = path.open("xb")
        self._hash = hashlib.sha256()
        self._waiting = bytearray()
        self.bytes = 0

    def write(self, content: bytes) -> None:
        self._waiting += content
        if len(self._waiting) > _AT_ONCE:
            self._pass_on()

    def write_json_line(self, value: Any) -> None:  # noqa: ANN401 - any JSON value
        """One line; the keys stay in their order."""
        waiting = self._waiting
        _encoder.encode_into(value, waiting, -1)  # -1: after what is there
        waiting.append(0x0A)
        if len(waiting) > _AT_ONCE:
            self._pass_on()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """On the disk when this returns, unless an error is on its way."""
        try:
            if kind is None:
                self._pass_on()
                with naming(self._path):
                    self._file.flush()
                    os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def _pass_on(self) -> None:
        """Hash and write what waits, in one go: a call a line would cost more than the line."""
        with naming(self._path):
            self._file.write(self._waiting)
        self._hash.update(self._waiting)
        self.bytes += len(self._waiting)
        self._waiting.clear()


@contextmanager
def written_aside(target: Path) -> Iterator[Path]:
    """A folder beside ``target`` to write into; gone when the block is left, unless it was put in place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.incoming-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put_in_place(folder: Path, target: Path) -> bool:
    """Rename the folder to ``target`` in one step; False when something is there that is not empty."""
    for each in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        _sync_folder(each)
    folder.chmod(0o755)  # made for its owner alone while it was unfinished
    try:
        folder.rename(target)
    except OSError:  # a folder that is not empty, or a file
        if not target.exists():
            raise
        return False
    _sync_folder(target.parent)
    return True


def copy_image(source: Path, target: Path, *, sha256: str) -> int:
    """Copy an image file and see that its bytes are what their name says; their number.

    Raises:
        FileNotFoundError: no such file.
        ValueError: other bytes than those of that SHA-256.
    """
    with source.open("rb") as file, HashedFile(target) as copy:
        while block := file.read(1 << 20):
            copy.write(block)
    if copy.sha256 != sha256:
        raise ValueError(f"the bytes of image {sha256} have changed in the workspace")
    return copy.bytes


def file_hash(path: Path) -> tuple[str, int]:
    """SHA-256 and length of a file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return digest.hexdigest(), file.tell()


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
