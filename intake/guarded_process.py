"""Parses untrusted files in a child process, while this process writes rows.

The child process has limits on memory and time, no access to the database, and can't write files. It sends
frames through a pipe: the length in 8 bytes, then a value serialised by `marshal`, which both processes can
read because they run the same Python. A length of 0 ends the stream.
"""

from __future__ import annotations

import gc
import json
import marshal
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from domain.errors import Refused
from intake.garbage_collector import pause_garbage_collector

_MEMORY_LIMIT_BYTES = 1 << 30
# Measured: files of short records take 1.4 s per 8 MiB, with escaped characters 2.9 s; a slow or shared
# processor takes twice as long.
_BASE_SECONDS = 10
_BYTES_PER_BASE_SECONDS = 8 << 20
# The time to wait for the next frame. On a busy machine, starting the process alone may take several seconds.
_TIMEOUT_SECONDS = 120.0
_NOTHING_IMPORTED = "Nothing was imported."
_SPLIT_ADVICE = "Split the file, or save a workbook as CSV."
_OUT_OF_MEMORY = 3  # exit code
_PROJECT = Path(__file__).resolve().parent.parent


class ParsingStopped(Refused):
    """The child process failed, timed out or exceeded a limit. ``reason`` is the start of the message."""

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(" ".join(filter(None, [reason, _NOTHING_IMPORTED, advice])))
        self.reason = reason


def parse_in_process(
    module: str, path: Path, options: dict[str, Any], *, size: int | None = None
) -> Generator[Any, None, None]:
    """Parse a file with ``python -m module``.

    Args:
        module: the module to run; it must call :func:`send_all` when it is executed.
        path: the file.
        options: additional arguments, as JSON values.
        size: the size in bytes from which the limit of processor time is computed; None for the file's size.

    Yields:
        The values that the process sends.

    Raises:
        ParsingStopped: the process failed, timed out or exceeded a limit.
    """
    if size is None:
        size = path.stat().st_size if path.is_file() else 0  # the process reports an invalid path itself
    request = json.dumps({"path": str(path.resolve()), "seconds": compute_time_limit(size), **options})
    command = [sys.executable, "-m", module, request]
    environment = {"PATH": os.defpath, "LANG": "C.UTF-8"}
    with subprocess.Popen(  # noqa: S603 - our own module
        command,
        cwd=_PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pipesize=1 << 20,
    ) as process:
        try:
            yield from _receive_values(process)
        finally:
            process.kill()


def compute_time_limit(size: int) -> int:
    """Return the seconds of processor time that parsing a file of this size in bytes may take."""
    return _BASE_SECONDS * (1 + size // _BYTES_PER_BASE_SECONDS)


def _receive_values(process: subprocess.Popen[bytes]) -> Iterator[Any]:
    pipe = process.stdout
    if pipe is None:
        raise RuntimeError("the standard output of the process is not a pipe")
    frames: queue.Queue[bytes | None] = queue.Queue(maxsize=2)
    stopped = threading.Event()

    def receive() -> None:
        # A separate thread reads, so that the process does not wait while rows are being written.
        while not stopped.is_set():
            size = int.from_bytes(pipe.read(8), "big")
            frames.put((pipe.read(size) or None) if size else None)
            if not size:
                return

    thread = threading.Thread(target=receive, daemon=True)
    thread.start()
    try:
        while frame := _next_frame(frames):
            with pause_garbage_collector():
                value = marshal.loads(frame)  # noqa: S302 - written by our own process
            yield value
    finally:
        stopped.set()
    code = process.wait()
    if code == -signal.SIGXCPU:
        raise ParsingStopped("Reading the file was stopped: it took too long.", _SPLIT_ADVICE)
    if code == _OUT_OF_MEMORY:
        raise ParsingStopped(
            f"Reading the file was stopped: it needed more than {_MEMORY_LIMIT_BYTES >> 20:,} MB of memory.",
            _SPLIT_ADVICE,
        )
    if code != 0:
        raise ParsingStopped(
            f"Reading the file failed unexpectedly (exit code {code}).",
            "Inform the server's administrator: the process may have been killed or run out of memory.",
        )


def _next_frame(frames: queue.Queue[bytes | None]) -> bytes | None:
    try:
        return frames.get(timeout=_TIMEOUT_SECONDS)
    except queue.Empty as error:
        raise ParsingStopped(
            f"Reading the file was stopped: there was no progress for {_TIMEOUT_SECONDS:.0f} seconds."
        ) from error


def send_all(arguments: list[str], parse: Callable[[dict[str, Any]], Iterator[Any]]) -> int:
    """Run the child process: parse the file within the limits and write the values to standard output.

    Args:
        arguments: the command line arguments; the first is a JSON object with ``path``, ``seconds`` and
            options.
        parse: a function that yields the values of the file; its argument is the JSON object.

    Returns:
        The exit code.
    """
    request = json.loads(arguments[0])
    gc.disable()  # there are no reference cycles, and searching for them takes a third of the time
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on Windows

        with suppress(ValueError, OSError):  # macOS defines the constant but does not support the limit
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT_BYTES, _MEMORY_LIMIT_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"] + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # the process does not need to write files
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        out = sys.stdout.buffer
        for value in parse(request):
            frame = marshal.dumps(value)
            out.write(len(frame).to_bytes(8, "big"))
            out.write(frame)
            out.flush()
        out.write(bytes(8))
        out.flush()
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    return 0
