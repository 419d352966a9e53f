"""Parses untrusted files in a separate process, while this process writes rows.

The process has limits on memory and time, no access to the database, and can't write files. It sends parsed
values through a pipe: for each part its length in 8 bytes, then plain values written by `marshal`, which both
processes can read because they run the same Python.
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

_MEMORY = 1 << 30
# Processor seconds: a basic amount, and the same again per this number of bytes, which take a quarter of it
# to parse.
_BASE_SECONDS = 10
_BYTES_PER_BASE_SECONDS = 64 << 20
# Seconds to wait for the next values; on a busy machine, starting the process alone may take several.
_TIMEOUT_SECONDS = 120.0
_NOTHING_IMPORTED = "Nothing was imported."
_OUT_OF_MEMORY = 3  # exit code
_PROJECT = Path(__file__).resolve().parent.parent


def parse_in_process(
    module: str, path: Path, options: dict[str, Any], *, size: int | None = None
) -> Generator[Any, None, None]:
    """Parse a file with ``python -m module``.

    Args:
        module: that calls :func:`send_all`.
        path: the file.
        options: further arguments, as JSON values.
        size: in bytes, by which the processor time is limited; None for that of the file.

    Yields:
        The values that the process sends.

    Raises:
        Refused: the process ended before the end of the file.
    """
    if size is None:
        size = path.stat().st_size if path.is_file() else 0  # the process reports an invalid path itself
    seconds = _BASE_SECONDS * (1 + size // _BYTES_PER_BASE_SECONDS)
    request = json.dumps({"path": str(path.resolve()), "seconds": seconds, **options})
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
            yield from _receive_parts(process)
        finally:
            process.kill()


def _receive_parts(process: subprocess.Popen[bytes]) -> Iterator[Any]:
    pipe = process.stdout
    if pipe is None:
        raise ValueError("a process without a pipe")  # never happens: stdout is a pipe
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
                part = marshal.loads(frame)  # noqa: S302 - written by our own process
            yield part
    finally:
        stopped.set()
    code = process.wait()
    if code == -signal.SIGXCPU:
        raise Refused(f"Reading the file was stopped: it took too long. {_NOTHING_IMPORTED}")
    if code == _OUT_OF_MEMORY:
        raise Refused(
            f"Reading the file was stopped: it needed more than {_MEMORY >> 20:,} MB of memory."
            f" {_NOTHING_IMPORTED}"
        )
    if code != 0:
        raise Refused(
            "Reading the file was stopped: it needed too much memory, or its process was ended."
            f" {_NOTHING_IMPORTED}"
        )


def _next_frame(frames: queue.Queue[bytes | None]) -> bytes | None:
    try:
        return frames.get(timeout=_TIMEOUT_SECONDS)
    except queue.Empty as error:
        raise Refused(
            f"Reading the file was stopped: there was no progress for {_TIMEOUT_SECONDS:.0f} seconds."
            f" {_NOTHING_IMPORTED}"
        ) from error


def send_all(arguments: list[str], parse: Callable[[dict[str, Any]], Iterator[Any]]) -> int:
    """The main function of the parsing process: write parsed values to standard output, within the limits.

    Args:
        arguments: of the command; the first describes the file as JSON.
        parse: yields the values of the file.

    Returns:
        The exit code.
    """
    request = json.loads(arguments[0])
    gc.disable()  # records and rows have no reference cycles; searching for them takes a third of the time
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on Windows

        with suppress(ValueError, OSError):  # macOS defines the constant but does not support the limit
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"], request["seconds"] + 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # it needs to write no files
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        out = sys.stdout.buffer
        for part in parse(request):
            frame = marshal.dumps(part)
            out.write(len(frame).to_bytes(8, "big"))
            out.write(frame)
            out.flush()
        out.write(bytes(8))
        out.flush()
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    return 0
