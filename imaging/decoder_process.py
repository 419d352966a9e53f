"""A process that reads untrusted files, and its pipes."""

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
_START_SECONDS = 60.0  # the codecs are imported slowly on a busy machine


# pydicom imports these packages if they are installed. The worker needs neither: it uses no network, and
# imagecodecs decodes the pixels. Without these packages it starts in two thirds of the time.
_START_WORKER = (
    "import runpy, sys; sys.modules.update(requests=None, gdcm=None); "
    "runpy.run_module('imaging.worker', run_name='__main__')"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits for one file: ``memory`` in bytes of address space, and ``seconds``."""

    memory: int = 1 << 30
    seconds: int = 10


class DecoderProcess:
    """A process that decodes image files, with its pipes. Only one thread at a time may use it.

    The constructor starts the process in the background. ``request_count`` is the number of requests so far.
    A ``broken`` process gives no further responses and must be ended.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.request_count = 0
        self.broken = False
        # The process must not see the database's address and secrets. One thread per library saves memory.
        environment = {
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-c", _START_WORKER, str(limits.memory), str(limits.seconds)]
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
            raise RuntimeError("stdin and stdout of the decoder process must be pipes")
        self._request_pipe, self._response_pipe = self._process.stdin, self._process.stdout
        self._readable = selectors.DefaultSelector()
        self._readable.register(self._response_pipe, selectors.EVENT_READ)
        self._started = False

    def send_request(self, request: dict[str, Any], content: bytes = b"", *, name: str) -> WorkerResponse:
        """Send a request and wait for the response, within the limits.

        Args:
            request: the request, as defined in :mod:`imaging.worker`.
            content: the bytes of the file, if the request has no path.
            name: the file name, used in error messages.

        Raises:
            UnreadableImage: the process gave no response; it is ``broken`` and must be ended.
        """
        self.request_count += 1
        try:
            self.wait_until_ready()
        except (TimeoutError, EOFError, OSError, ValueError) as error:
            reason = (
                "was not read: the decoder process did not start. Try again when the machine is less busy."
            )
            raise UnreadableImage(name, reason) from error
        self.broken = True  # until the response is complete
        try:
            self._write_all(json.dumps(request).encode() + b"\n")
            self._write_all(content)
            response = self._read_response(time.monotonic() + self._limits.seconds)
        except TimeoutError as error:
            raise UnreadableImage(name, self._describe_timeout()) from error
        except (EOFError, OSError, ValueError) as error:
            raise UnreadableImage(name, self._describe_exit()) from error
        self.broken = False
        return response

    @property
    def is_ready(self) -> bool:
        """Whether the process has started. Does not wait for it."""
        return self._started or bool(self._readable.select(0))

    def wait_until_ready(self) -> None:
        """Wait until the process has started. This time does not count towards the limit of a file.

        After any of these errors the process is ``broken``.

        Raises:
            TimeoutError: the process did not start within a minute.
            EOFError: the process ended.
            OSError: a pipe broke.
            ValueError: the response is not valid.
        """
        if self._started:
            return
        self.broken = True
        self._read_response(time.monotonic() + _START_SECONDS)
        self._started, self.broken = True, False

    def end(self) -> None:
        """Kill the process. It has nothing to save, and a normal exit of its libraries takes long."""
        self._process.kill()
        self._process.wait()
        self._request_pipe.close()
        self._readable.close()
        self._response_pipe.close()

    def _write_all(self, content: bytes) -> None:
        remaining = memoryview(content)
        while remaining:  # an unbuffered pipe may accept only a part
            remaining = remaining[self._request_pipe.write(remaining) :]

    def _read_response(self, deadline: float) -> WorkerResponse:
        header = json.loads(self._read_exactly(int.from_bytes(self._read_exactly(8, deadline)), deadline))
        return header, [self._read_exactly(size, deadline) for size in header.get("sizes", [])]

    def _read_exactly(self, size: int, deadline: float) -> bytes:
        if not 0 <= size <= self._limits.memory:
            raise ValueError(f"a response of {size} bytes")
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
            return "can't be read: the decoder process gave an invalid response."
        if code == OUT_OF_MEMORY:
            return f"can't be read: reading needs more than {self._limits.memory >> 20} MB of memory."
        if code == -signal.SIGXCPU:
            return self._describe_timeout()
        return "can't be read: the decoder process crashed. The file is damaged or needs too much memory."

    def _describe_timeout(self) -> str:
        return f"can't be read: reading takes longer than {self._limits.seconds} seconds."
