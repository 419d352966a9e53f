"""The file format of a backup: a plain tar, followed by one line (the seal) with the hash of the tar.

A tar of any size is written and read as a stream. The checksums of a tar cover only the headers. The last
line, ``overread-backup <SHA-256 of all bytes before it>``, shows whether the file was truncated or altered.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from domain.errors import Refused
from domain.file_errors import add_filename_to_errors

if TYPE_CHECKING:
    from _typeshed import SupportsRead

_SEAL = b"overread-backup "
_SEAL_LENGTH = len(_SEAL) + 64 + 1
_BLOCK = 1 << 20
#: The errors that tarfile raises for an invalid header.
_HEADER_ERRORS = (tarfile.TarError, EOFError, OSError, ValueError, RecursionError)


class BackupDamaged(Refused):
    """The file is not a complete, unaltered backup. Nothing from it is used."""


class ArchiveWriter:
    """Writes members to ``path`` one after the other. The file must not exist; only its owner may read it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self._hash = hashlib.sha256()
        self._tar = tarfile.TarFile.open(fileobj=self, mode="w|", format=tarfile.PAX_FORMAT)  # type: ignore[call-overload]  # mode "w|" needs only write(); typeshed asks for more
        self.bytes = 0

    def write(self, content: bytes) -> int:
        """Write and hash bytes. ``tarfile`` calls this, because the writer is its file object."""
        if self._file.closed:  # the backup was aborted, but tarfile still writes the end of the tar
            return len(content)
        with add_filename_to_errors(self._path):
            self._file.write(content)
        self._hash.update(content)
        self.bytes += len(content)
        return len(content)

    def add(self, name: str, content: bytes) -> None:
        self.add_file(name, io.BytesIO(content), len(content))

    def add_file(self, name: str, source: SupportsRead[bytes], length: int) -> None:
        """Add a member of ``length`` bytes.

        Raises:
            OSError: the source has fewer bytes.
        """
        info = tarfile.TarInfo(name)
        info.size, info.mode = length, 0o600
        self._tar.addfile(info, source)
        _clear_member_list(self._tar)

    def seal(self) -> str:
        """Write the last line, sync the file to disk and close it; return the SHA-256 in that line."""
        self._tar.close()
        digest = self._hash.hexdigest()
        with add_filename_to_errors(self._path), self._file:
            self._file.write(_SEAL + digest.encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        return digest

    def close(self) -> None:
        """Close the file, whether or not it is complete."""
        self._file.close()


class _HashingReader(io.RawIOBase):
    """The tar part of an open backup, hashed while it is read."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file, self._remaining = file, length
        self.hash = hashlib.sha256()
        file.seek(0)

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(self._remaining if size < 0 else min(size, self._remaining))
        self._remaining -= len(content)
        self.hash.update(content)
        return content


def read_seal(file: IO[bytes]) -> str:
    """Return the SHA-256 in the last line of the open file.

    Raises:
        BackupDamaged: the file has no such line.
    """
    length = file.seek(0, io.SEEK_END)
    file.seek(max(0, length - _SEAL_LENGTH))
    line = file.read()
    if not line.startswith(_SEAL) or not line.endswith(b"\n") or len(line) != _SEAL_LENGTH:
        raise BackupDamaged(
            "The file is not a backup, or its end is missing: a complete backup ends with a line "
            "that has the SHA-256 of its content."
        )
    return line[len(_SEAL) : -1].decode("ascii", "replace")


@contextmanager
def open_members(file: IO[bytes]) -> Iterator[Iterator[tuple[str, IO[bytes]]]]:
    """Yield (name, content) of each member of an open backup, in order.

    Read each content before requesting the next member. The hash is compared when the ``with`` block ends;
    until then, the contents are unverified.

    Raises:
        BackupDamaged: the file was truncated or altered, or has a member that is not a regular file.
    """
    seal = read_seal(file)
    body = _HashingReader(file, file.seek(0, io.SEEK_END) - _SEAL_LENGTH)
    with _open_tar(body) as tar:
        try:
            yield _iterate_members(tar)
        except tarfile.TarError as error:  # a truncated member
            raise _damaged_error() from error
    while body.read(_BLOCK):
        pass
    if body.hash.hexdigest() != seal:
        raise _damaged_error()


def _open_tar(body: _HashingReader) -> tarfile.TarFile:
    try:
        return tarfile.TarFile.open(fileobj=body, mode="r|", bufsize=_BLOCK)
    except _HEADER_ERRORS as error:
        raise _damaged_error() from error


def _iterate_members(tar: tarfile.TarFile) -> Iterator[tuple[str, IO[bytes]]]:
    while (info := _next_member(tar)) is not None:
        content = tar.extractfile(info) if info.isreg() else None
        if content is None:
            raise BackupDamaged(f"{info.name!r} in the backup is not a regular file. The backup is not used.")
        yield info.name, content
        _clear_member_list(tar)


def _clear_member_list(tar: tarfile.TarFile) -> None:
    """Free the list of members, which tarfile collects and which is not used here."""
    tar.members.clear()  # type: ignore[attr-defined]  # missing in typeshed


def _next_member(tar: tarfile.TarFile) -> tarfile.TarInfo | None:
    try:
        return tar.next()
    except _HEADER_ERRORS as error:
        raise _damaged_error() from error


def _damaged_error() -> BackupDamaged:
    return BackupDamaged(
        "The file was truncated or changed after it was written: its content does not match its SHA-256."
    )
