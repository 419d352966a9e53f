"""A process that reads untrusted files, and the pipe to it."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imaging.errors import UnreadableImage
from imaging.wire import OUT_OF_MEMORY, WorkerResponse

_PROJECT = Path(__file__).resolve().parent.parent
_START_SECONDS = 60.0  # importing the codecs on a busy machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits for one file: bytes of memory (the address space of the process), seconds."""

    memory: int = 1 << 30
    seconds: int = 10


class ReadingProcess:
    """A reading process and the pipe to it; one thread at a time may use it.

    It is started at once, in the background. ``request_count`` counts its requests. A ``broken`` one gives no
    further answers and must be ended.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.request_count = 0
        self.broken = False
        # The process must not see the database's address and secrets; one thread each limits the memory.
        environment = {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "imaging.worker", str(limits.memory), str(limits.seconds)]
        self._process = subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_PROJECT,
            env=environment,
            bufsize=0,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise ValueError("a process without pipes")  # never: both were requested
        self._request_pipe, self._response_pipe = self._process.stdin, self._process.stdout
        self._readable = selectors.DefaultSelector()
        self._readable.register(self._response_pipe, selectors.EVENT_READ)
        self._started = False

    def send_request(self, request: dict[str, Any], content: bytes = b"", *, name: str) -> WorkerResponse:
        """Send a request and wait for the answer, within the limits.

        Args:
            request: as :mod:`imaging.worker` reads it.
            content: the file's bytes, if the request has no path.
            name: of the file, for the error's text.

        Raises:
            UnreadableImage: there is no answer; the process is ``broken`` and must be ended.
        """
        self.request_count += 1
        try:
            self.wait_until_ready()
        except (TimeoutError, EOFError, OSError, ValueError) as error:
            reason = "was not read: its reader did not start. Try again when the machine is less busy."
            raise UnreadableImage(name, reason) from error
        self.broken = True  # until the answer is complete
        try:
            self._write_all(json.dumps(request).encode() + b"\n")
            self._write_all(content)
            response = self._read_response(time.monotonic() + self._limits.seconds)
        except TimeoutError as error:
            reason = f"takes longer than {self._limits.seconds} seconds to read, so it was given up."
            raise UnreadableImage(name, reason) from error
        except (EOFError, OSError, ValueError) as error:
            raise UnreadableImage(name, self._describe_exit()) from error
        self.broken = False
        return response

    @property
    def is_ready(self) -> bool:
        """Whether the process has started; does not wait."""
        return self._started or bool(self._readable.select(0))

    def wait_until_ready(self) -> None:
        """Wait until the process has started, which does not count for a file's time.

        Raises:
            TimeoutError: it did not start within a minute; after any of these errors it is ``broken``.
            EOFError: it ended.
            OSError: the pipe broke.
            ValueError: its answer makes no sense.
        """
        if self._started:
            return
        self.broken = True
        self._read_response(time.monotonic() + _START_SECONDS)
        self._started, self.broken = True, False

    def end(self) -> None:
        """Kill the process: it has nothing to save, and an orderly exit of its libraries takes long."""
        self._process.kill()
        self._process.wait()
        self._request_pipe.close()
        self._readable.close()
        self._response_pipe.close()

    def _write_all(self, content: bytes) -> None:
        remaining = memoryview(content)
        while remaining:  # unbuffered: a pipe accepts as much as fits
            remaining = remaining[self._request_pipe.write(remaining) :]

    def _read_response(self, deadline: float) -> WorkerResponse:
        header = json.loads(self._read_exactly(int.from_bytes(self._read_exactly(8, deadline)), deadline))
        return header, [self._read_exactly(size, deadline) for size in header.get("sizes", [])]

    def _read_exactly(self, size: int, deadline: float) -> bytes:
        if not 0 <= size <= self._limits.memory:
            raise ValueError(f"an answer of {size} bytes")
        received = bytearray()
        while len(received) < size:
            if not self._readable.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            chunk = os.read(self._response_pipe.fileno(), min(size - len(received), 1 << 20))
            if not chunk:
                raise EOFError
            received += chunk
        return bytes(received)

    def _describe_exit(self) -> str:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "can't be read: its reader gave no answer that makes sense."
        if code == OUT_OF_MEMORY:
            return f"takes more than {self._limits.memory >> 20} MB of memory to read, so it was given up."
        if code == -signal.SIGXCPU:
            return f"takes longer than {self._limits.seconds} seconds to read, so it was given up."
        return "is damaged in a way that broke off its reader, or asks for too much memory."
