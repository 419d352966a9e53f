"""A large file is parsed by a process of its own, while this one writes the rows.

Records come from strangers: over there they have at most a gigabyte to do harm in. The batches come back
through a pipe, each as its length in 8 bytes and its plain values as `marshal` writes them; that form is for
two processes of one Python only, which these are.
"""

from __future__ import annotations

import gc
import json
import marshal
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from domain.errors import Refused
from intake.collector import collector_paused
from intake.containers import Container
from intake.parsed_batch import ParsedBatch
from intake.parsing import parsed_batches
from intake.recognition import FileFormat

#: Smaller files are parsed here: starting a process would take longer.
LARGE = 16 << 20
_MEMORY = 1 << 30
_PROJECT = Path(__file__).resolve().parent.parent


def batches_of(
    path: Path,
    *,
    container: Container,
    file_format: FileFormat,
    file_stem: str,
    minimum_explanation: int,
    with_images: bool,
) -> Iterator[ParsedBatch]:
    """As ``parsed_batches``, in a process of its own for large files where there is a second processor.

    Raises:
        Refused: the process ended before the file did.
    """
    asked = {
        "container": container,
        "file_format": file_format,
        "file_stem": file_stem,
        "minimum_explanation": minimum_explanation,
        "with_images": with_images,
    }
    if path.stat().st_size < LARGE or (os.cpu_count() or 1) < 2:
        yield from parsed_batches(path, **asked)  # type: ignore[arg-type]  # the arguments of above
        return
    command = [
        sys.executable,
        "-m",
        "intake.parsing_process",
        json.dumps({"path": str(path.resolve()), **asked}),
    ]
    with subprocess.Popen(command, cwd=_PROJECT, stdout=subprocess.PIPE, pipesize=1 << 20) as process:  # noqa: S603 - our own module
        try:
            yield from _received(process)
        finally:
            process.kill()


def _received(process: subprocess.Popen[bytes]) -> Iterator[ParsedBatch]:
    pipe = process.stdout
    if pipe is None:
        raise ValueError("a process without a pipe")  # never: one was asked for
    frames: queue.Queue[bytes | None] = queue.Queue(maxsize=2)
    left = threading.Event()

    def receive() -> None:
        # In a thread of its own, so that the process never waits while rows are being written.
        while not left.is_set():
            size = int.from_bytes(pipe.read(8), "big")
            frames.put((pipe.read(size) or None) if size else None)
            if not size:
                return

    thread = threading.Thread(target=receive, daemon=True)
    thread.start()
    try:
        while frame := frames.get():
            with collector_paused():
                batch = ParsedBatch(*marshal.loads(frame))  # noqa: S302 - written by our own process
            yield batch
    finally:
        left.set()
    if process.wait() != 0:
        raise Refused(
            "Reading the file was broken off: it took too much memory, or its process was ended. "
            "Nothing was imported."
        )


def _send(batch: ParsedBatch, out: BinaryIO) -> None:
    frame = marshal.dumps(batch.plain())
    out.write(len(frame).to_bytes(8, "big"))
    out.write(frame)
    out.flush()


def main(arguments: list[str]) -> int:
    """Parse the file that the first argument describes, to standard output."""
    asked = json.loads(arguments[0])
    gc.disable()  # records and rows have no cycles, and looking for some takes a third of the time
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for batch in parsed_batches(
        Path(asked["path"]),
        container=Container(asked["container"]),
        file_format=FileFormat(asked["file_format"]),
        file_stem=asked["file_stem"],
        minimum_explanation=asked["minimum_explanation"],
        with_images=asked["with_images"],
    ):
        _send(batch, sys.stdout.buffer)
    sys.stdout.buffer.write(bytes(8))
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
