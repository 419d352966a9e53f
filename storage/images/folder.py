"""Image files in a local folder."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from domain.errors import NotFound, NotNow, Refused
from domain.file_errors import add_filename_to_errors, describe_file_error

SHA256_LENGTH = 64


class FolderStore:
    """An image store with paths ``folder/ab/ab…``: files are named by their SHA-256, in 256 subfolders."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, sha256: str) -> Path:
        """Return the file's path, whether or not it exists."""
        return self._folder / validate_sha256(sha256)[:2] / sha256

    def contains(self, sha256: str) -> bool:
        return self.path(sha256).exists()

    def write(self, sha256: str, content: bytes) -> None:
        """Write the file atomically, even with concurrent writers. It is on disk when this returns."""
        target = self.path(sha256)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".incoming-")
        try:
            with add_filename_to_errors(target), os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        finally:
            Path(name).unlink(missing_ok=True)

    def read(self, sha256: str) -> bytes:
        try:
            content = self.path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise self._not_found(sha256) from error
        return verify_content(sha256, content)

    @contextmanager
    def local_file(self, sha256: str) -> Iterator[Path]:
        """Yield the stored file itself, without a copy and without a check of its content."""
        path = self.path(sha256)
        if not path.exists():
            raise self._not_found(sha256)
        yield path

    def remove(self, sha256: str) -> None:
        self.path(sha256).unlink(missing_ok=True)

    def check(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, prefix=".check-") as file:
                file.write(b"overread")
                file.flush()
        except OSError as error:
            raise NotNow(f"The image folder is not writable. {describe_file_error(error)}") from error

    def _not_found(self, sha256: str) -> NotFound:
        return NotFound(f"The folder {self._folder} has no image {sha256}; import it again.")


def validate_sha256(sha256: str) -> str:
    """Return the name if it is a SHA-256, and therefore cannot be a path to another folder."""
    if len(sha256) != SHA256_LENGTH or not set(sha256) <= set("0123456789abcdef"):
        raise ValueError(f"not a SHA-256: {sha256!r}")
    return sha256


def verify_content(sha256: str, content: bytes) -> bytes:
    """Return the bytes if they have that SHA-256.

    Raises:
        Refused: they have a different SHA-256.
    """
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Refused(
            f"The stored image {sha256} was changed, so it is not used. Restore the file from a backup, or "
            "import it again."
        )
    return content
