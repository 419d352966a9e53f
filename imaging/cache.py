"""Disk cache for data derived from image files; the least recently used files are deleted first."""

from __future__ import annotations

import functools
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from imaging.display import JPEG_QUALITY, RENDERING_VERSION
from imaging.matrix import MATRIX_VERSION
from imaging.viewer_facts import FACTS_VERSION

_LOG = logging.getLogger(__name__)
_SCANS_PER_LIMIT = 16  # the folder is scanned each time a 16th of the limit was written
_STALE_SECONDS = 3600.0  # a temporary file this many seconds older than the newest file is deleted


def picture_cache_name(sha256: str, *, longest_side: int | None) -> str:
    """The cache name of a display picture; it changes when pictures are rendered differently.

    Args:
        sha256: of the image file, lower-case hex.
        longest_side: pixels of the longer side at most; None for full size.
    """
    return f"{sha256}-{longest_side or 'full'}-q{JPEG_QUALITY}-r{RENDERING_VERSION}.jpg"


def matrix_cache_name(sha256: str) -> str:
    """The cache name of the encoded pixel values (:func:`imaging.matrix.encode_matrix`).

    Args:
        sha256: of the image file, lower-case hex.
    """
    return f"{sha256}-w{MATRIX_VERSION}.gz"


def facts_cache_name(sha256: str) -> str:
    """The cache name of the viewer's facts (:func:`imaging.viewer_facts.build_viewer_facts`).

    Args:
        sha256: of the image file, lower-case hex.
    """
    return f"{sha256}-w{MATRIX_VERSION}-f{FACTS_VERSION}-r{RENDERING_VERSION}.json"


class DiskCache:
    """Files by name below ``folder``, at most ``limit`` bytes; threads and processes may share it.

    A process scans the folder only from time to time. Until the next scan, each process may exceed the limit
    by a 16th of it.
    """

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder / "radiographs"
        self._limit = limit
        self._written = limit  # unknown so far, so the first file causes a scan
        self._lock = threading.Lock()

    def find(self, name: str) -> bytes | None:
        """Read a file and mark it as used.

        Args:
            name: of the file.

        Returns:
            The content; None if the file is not in the cache.
        """
        path = self._path(name)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _LOG.warning("the cache could not be read: %s", error.strerror)
            return None
        with suppress(OSError):  # for example, deleted by another process just now
            os.utime(path)
        return content

    def store(self, name: str, content: bytes) -> None:
        """Write a file atomically; several may write the same name at once.

        A file that cannot be written, for example on a full disk, is not cached; the log has the reason.

        Args:
            name: of the file.
            content: all its bytes.
        """
        try:
            self._write(name, content)
            self._evict(len(content))
        except OSError as error:
            _LOG.warning("the cache could not be written: %s", error.strerror)

    def _write(self, name: str, content: bytes) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, incoming = tempfile.mkstemp(dir=path.parent, prefix=".incoming-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(incoming).replace(path)
        finally:
            Path(incoming).unlink(missing_ok=True)

    def get_or_create(self, name: str, make: Callable[[], bytes]) -> bytes:
        """Read a file, or create it first if it is not there.

        Args:
            name: of the file.
            make: returns the content; its errors are passed on.
        """
        content = self.find(name)
        if content is None:
            content = make()
            self.store(name, content)
        return content

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def _evict(self, written_bytes: int) -> None:
        with self._lock:
            self._written += written_bytes
            if self._written * _SCANS_PER_LIMIT < self._limit:
                return
            self._written = 0
            files = sorted(self._files())
            total = sum(size for _, size, _ in files)
            for last_used, size, path in files:
                is_stale = path.name.startswith(".") and last_used < files[-1][0] - _STALE_SECONDS
                if is_stale or (total > self._limit and not path.name.startswith(".")):
                    path.unlink(missing_ok=True)
                    total -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Time of last use, size in bytes and path of each file, including temporary ones."""
        for path in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):  # another process made room at the same time
                status = path.stat()
                yield status.st_mtime, status.st_size, path


@functools.cache
def open_disk_cache(folder: Path, *, limit: int) -> DiskCache:
    """The cache of a folder; one object per process, so that it counts all bytes written.

    Args:
        folder: the parent of the cache's own folder.
        limit: bytes.
    """
    return DiskCache(folder, limit=limit)
