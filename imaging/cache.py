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
_SCANS_PER_LIMIT = 16  # the folder is scanned whenever 1/16 of the limit has been written
_STALE_SECONDS = 3600.0  # a temporary file is deleted if it is this much older than the newest file


def picture_cache_name(sha256: str, *, longest_side: int | None) -> str:
    """Return the cache name of a display picture. It contains the version of the rendering.

    Args:
        sha256: the SHA-256 of the image file, in lower-case hex.
        longest_side: the maximum length of the longer side in pixels; None for full size.
    """
    return f"{sha256}-{longest_side or 'full'}-q{JPEG_QUALITY}-r{RENDERING_VERSION}.jpg"


def matrix_cache_name(sha256: str) -> str:
    """Return the cache name of the encoded pixel values (:func:`imaging.matrix.encode_matrix`).

    Args:
        sha256: the SHA-256 of the image file, in lower-case hex.
    """
    return f"{sha256}-w{MATRIX_VERSION}.gz"


def viewer_facts_cache_name(sha256: str) -> str:
    """Return the cache name of the viewer's metadata (:func:`imaging.viewer_facts.build_viewer_facts`).

    Args:
        sha256: the SHA-256 of the image file, in lower-case hex.
    """
    return f"{sha256}-w{MATRIX_VERSION}-f{FACTS_VERSION}-r{RENDERING_VERSION}.json"


class DiskCache:
    """A cache of named files below ``folder``, limited to ``limit`` bytes.

    Threads and processes may share it.

    A process scans the folder only from time to time. Until its next scan, each process may exceed the limit
    by 1/16.
    """

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder / "radiographs"
        self._limit = limit
        self._written_bytes = limit  # the folder's size is unknown, so the first file causes a scan
        self._lock = threading.Lock()

    def find(self, name: str) -> bytes | None:
        """Read a file and mark it as used.

        Args:
            name: the cache name of the file.

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
        """Write a file atomically. Several threads and processes may write the same name at the same time.

        A file that cannot be written, for example on a full disk, is not cached. The reason is logged.

        Args:
            name: the cache name of the file.
            content: all its bytes.
        """
        try:
            self._write(name, content)
            self._evict_if_due(len(content))
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
        """Read a file. If the file is not in the cache, create and store it first.

        Args:
            name: the cache name of the file.
            make: a function that returns the content; its errors are raised.
        """
        content = self.find(name)
        if content is None:
            content = make()
            self.store(name, content)
        return content

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def _evict_if_due(self, written_bytes: int) -> None:
        with self._lock:
            self._written_bytes += written_bytes
            if self._written_bytes * _SCANS_PER_LIMIT < self._limit:
                return
            self._written_bytes = 0
            files = sorted(self._files())
            total = sum(size for _, size, _ in files)
            for last_used, size, path in files:
                is_stale = path.name.startswith(".") and last_used < files[-1][0] - _STALE_SECONDS
                if is_stale or (total > self._limit and not path.name.startswith(".")):
                    path.unlink(missing_ok=True)
                    total -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Yield time of last use, size in bytes and path of each file, including temporary files."""
        for path in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):  # another process deleted the file at the same time
                status = path.stat()
                yield status.st_mtime, status.st_size, path


@functools.cache
def open_disk_cache(folder: Path, *, limit: int) -> DiskCache:
    """Return the cache of a folder: one object per process, so that it counts all bytes written.

    Args:
        folder: the parent of the cache's own folder.
        limit: the maximum size in bytes.
    """
    return DiskCache(folder, limit=limit)
