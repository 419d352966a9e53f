"""What is made of a file, kept on the disk until space runs out; what was not used for longest goes first."""

from __future__ import annotations

import functools
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from imaging.display import QUALITY, RENDERING
from imaging.facts import FACTS_FORM
from imaging.matrix import WIRE_FORM

_LOOK_AFTER = 16  # a look at the whole folder each time a 16th of the limit was written
_LEFT_BEHIND = 3600.0  # seconds behind the newest file after which one that never came in whole is given up


def picture_name(sha256: str, *, longest: int | None) -> str:
    """The name of one picture: of which file, which size, made how. It names nothing of an exam."""
    return f"{sha256}-{longest or 'full'}-q{QUALITY}-r{RENDERING}.jpg"


def matrix_name(sha256: str) -> str:
    """The name of the stored values for the browser."""
    return f"{sha256}-w{WIRE_FORM}.gz"


def facts_name(sha256: str) -> str:
    """The name of what the browser needs to show them."""
    return f"{sha256}-w{WIRE_FORM}-f{FACTS_FORM}-r{RENDERING}.json"


class DiskCache:
    """Files by name in ``folder``, ``limit`` bytes of them at most; threads and processes may share it.

    A process looks at the whole folder now and then only, so several that write may pass the limit by
    a 16th of it each, until the next look.
    """

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder / "radiographs"
        self._limit = limit
        self._written = limit  # unknown as yet, so the first file that comes in makes it look
        self._lock = threading.Lock()

    def find(self, name: str) -> bytes | None:
        """The content, which counts as used now; None if it is not there."""
        path = self._path(name)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        with suppress(FileNotFoundError):  # it went in this moment; we have its content
            os.utime(path)
        return content

    def keep(self, name: str, content: bytes) -> None:
        """Keep it, whole or not at all. Two that keep the same at once do no harm."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, incoming = tempfile.mkstemp(dir=path.parent, prefix=".incoming-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(incoming).replace(path)
        finally:
            Path(incoming).unlink(missing_ok=True)
        self._make_room(len(content))

    def find_or_make(self, name: str, make: Callable[[], bytes]) -> bytes:
        """The content, made and kept first if it is not there; errors of ``make`` pass through."""
        content = self.find(name)
        if content is None:
            content = make()
            self.keep(name, content)
        return content

    def _path(self, name: str) -> Path:
        return self._folder / name[:2] / name

    def _make_room(self, written: int) -> None:
        with self._lock:
            self._written += written
            if self._written * _LOOK_AFTER < self._limit:
                return
            self._written = 0
            files = sorted(self._files())
            total = sum(size for _, size, _ in files)
            for used, size, path in files:
                forgotten = path.name.startswith(".") and used < files[-1][0] - _LEFT_BEHIND
                if forgotten or (total > self._limit and not path.name.startswith(".")):
                    path.unlink(missing_ok=True)
                    total -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """When each was last used, its bytes, its path; those that are being written too."""
        for path in self._folder.glob("*/*"):
            with suppress(FileNotFoundError):  # another process made room at the same time
                status = path.stat()
                yield status.st_mtime, status.st_size, path


@functools.cache
def disk_cache(folder: Path, *, limit: int) -> DiskCache:
    """The one cache of that folder in this process, which keeps count of what was written."""
    return DiskCache(folder, limit=limit)
