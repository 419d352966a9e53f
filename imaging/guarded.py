"""Strangers' files, read in processes of their own: too slow or too large ends the process, not the app.

A few reading processes serve many files each. One that breaks a limit, or that a damaged file breaks, is
ended and replaced; its file is refused with the reason, and work goes on.
"""

from __future__ import annotations

import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from imaging.errors import UnreadableImage
from imaging.radiograph import DecodedRadiograph, ImageFacts, Window
from imaging.render import Rendered
from imaging.wire import OUT_OF_MEMORY, Answer, facts_from, put_together

_PROJECT = Path(__file__).resolve().parent.parent
_START_SECONDS = 60.0  # importing the codecs on a busy machine
_FILES_A_PROCESS = 2_000  # then a fresh one, so that no codec's leak adds up
_AHEAD = 16  # files that are handed out before their answers are fetched, a process


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may take: bytes of memory (the process's address space), seconds."""

    memory: int = 1 << 30
    seconds: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPixels:
    """A radiograph for the browser: ``facts`` are JSON, ``matrix`` is gzip of the stored values."""

    facts: bytes
    matrix: bytes


class GuardedReader:
    """Reading processes, started when first asked, ended with the ``with`` block. Threads may share it."""

    def __init__(self, *, workers: int = 2, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._count = workers
        self._idle: queue.LifoQueue[_Process | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)  # a place for a process that is not started yet

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start all processes now, in the background, so that the first file need not wait for one."""
        places = [self._idle.get() for _ in range(self._count)]
        for process in places:
            self._idle.put(process or _Process(self._limits))

    def close(self) -> None:
        """End the processes, each after the file it is at."""
        for _ in range(self._count):
            process = self._idle.get()
            if process is not None:
                process.end()
        for _ in range(self._count):
            self._idle.put(None)

    def describe(self, path: Path, *, name: str | None = None) -> ImageFacts:
        """``imaging.reading.describe`` of the file; ``name`` stands in the refusal in place of its path.

        Raises:
            UnreadableImage: with the reason; too slow and too large are reasons too.
        """
        answer = self._ask(path, name=name, do="describe")
        return facts_from(answer[0]["facts"])

    def describe_all(self, paths: Iterable[tuple[Path, str]]) -> Iterator[ImageFacts | UnreadableImage]:
        """The facts of each (path, name), or why it is refused, in their order; all processes at work.

        ``paths`` may be endless: only a few are taken ahead.
        """
        with ThreadPoolExecutor(self._count) as threads:
            waiting: deque[Future[ImageFacts | UnreadableImage]] = deque()
            for path, name in paths:
                waiting.append(threads.submit(self._described, path, name))
                if len(waiting) >= _AHEAD * self._count:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def decode(self, path: Path, *, name: str | None = None) -> DecodedRadiograph:
        """``imaging.reading.read_radiograph`` of the file.

        Raises:
            UnreadableImage: with the reason.
        """
        return put_together(self._ask(path, name=name, do="decode"))

    def picture(
        self,
        path: Path,
        *,
        name: str | None = None,
        window: Window | None = None,
        longest: int | None = None,
    ) -> bytes:
        """``imaging.display.display_jpeg`` of the file: decoded and drawn over there.

        Raises:
            UnreadableImage: with the reason.
        """
        stated = None if window is None else asdict(window)
        return self._ask(path, name=name, do="picture", window=stated, longest=longest)[1][0]

    def pixels(self, path: Path, *, name: str | None = None) -> EncodedPixels:
        """``imaging.facts.viewer_facts`` and ``imaging.matrix.encode_matrix`` of the file, made over there.

        Raises:
            UnreadableImage: with the reason.
        """
        facts, matrix = self._ask(path, name=name, do="pixels")[1]
        return EncodedPixels(facts=facts, matrix=matrix)

    def render(
        self,
        path: Path,
        *,
        name: str | None = None,
        bits: int = 8,
        window: Window | None = None,
        quarter: bool = False,
    ) -> Rendered:
        """``imaging.render.render`` of the file, made over there.

        Raises:
            UnreadableImage: with the reason.
        """
        stated = None if window is None else asdict(window)
        files = self._ask(path, name=name, do="render", bits=bits, window=stated, quarter=quarter)[1]
        return Rendered(full=files[0], quarter=files[1] if quarter else None)

    def _described(self, path: Path, name: str) -> ImageFacts | UnreadableImage:
        try:
            return self.describe(path, name=name)
        except UnreadableImage as refusal:
            return refusal

    def _ask(self, path: Path, *, name: str | None, do: str, **rest: object) -> Answer:
        name = name or path.name
        request = {"do": do, "path": str(path.resolve()), "name": name, **rest}
        with self._borrowed() as process:
            answer = process.ask(request, name=name)
        refused = answer[0].get("refused")
        if refused is not None:
            raise UnreadableImage(name, refused, attribute=answer[0]["attribute"])
        return answer

    @contextmanager
    def _borrowed(self) -> Iterator[_Process]:
        process = self._idle.get()
        try:
            if process is None:
                process = _Process(self._limits)
            yield process
        finally:
            if process is not None and (process.broken or process.asked >= _FILES_A_PROCESS):
                process.end()
                process = None
            self._idle.put(process)


def describe_guarded(
    paths: Iterable[tuple[Path, str]], *, workers: int = 2, limits: Limits | None = None
) -> Iterator[ImageFacts | UnreadableImage]:
    """``GuardedReader.describe_all`` with processes for this call alone."""
    with GuardedReader(workers=workers, limits=limits) as reader:
        yield from reader.describe_all(paths)


class _Process:
    """One reading process and the pipe to it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.asked = 0
        self.broken = False
        # The database's address and every secret stay on this side; one thread each bounds the memory.
        surroundings = {
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
            env=surroundings,
            bufsize=0,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise ValueError("a process without pipes")  # never: both were asked for
        self._requests, self._answers = self._process.stdin, self._process.stdout
        self._readable = selectors.DefaultSelector()
        self._readable.register(self._answers, selectors.EVENT_READ)
        self._started = False

    def ask(self, request: dict[str, Any], *, name: str) -> Answer:
        """The answer within the limits.

        Raises:
            UnreadableImage: there is none; the process is ``broken`` and must be ended.
        """
        self.asked += 1
        self.broken = True  # until the answer is whole
        try:
            if not self._started:
                self._answer(time.monotonic() + _START_SECONDS)
                self._started = True
            self._requests.write(json.dumps(request).encode() + b"\n")
            answer = self._answer(time.monotonic() + self._limits.seconds)
        except TimeoutError as error:
            reason = f"takes longer than {self._limits.seconds} seconds to read, so it was given up."
            raise UnreadableImage(name, reason) from error
        except (EOFError, OSError, ValueError) as error:
            raise UnreadableImage(name, self._why_it_ended()) from error
        self.broken = False
        return answer

    def end(self) -> None:
        """Let it go; what does not go by itself at once is killed."""
        self._requests.close()
        if self.broken:
            self._process.kill()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._readable.close()
        self._answers.close()

    def _answer(self, until: float) -> Answer:
        head = json.loads(self._exactly(int.from_bytes(self._exactly(8, until)), until))
        return head, [self._exactly(size, until) for size in head.get("sizes", [])]

    def _exactly(self, size: int, until: float) -> bytes:
        if not 0 <= size <= self._limits.memory:
            raise ValueError(f"an answer of {size} bytes")
        found = bytearray()
        while len(found) < size:
            if not self._readable.select(max(0.0, until - time.monotonic())):
                raise TimeoutError
            part = os.read(self._answers.fileno(), min(size - len(found), 1 << 20))
            if not part:
                raise EOFError
            found += part
        return bytes(found)

    def _why_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "can't be read: its reader gave no answer that makes sense."
        if code == OUT_OF_MEMORY:
            return f"takes more than {self._limits.memory >> 20} MB of memory to read, so it was given up."
        if code == -signal.SIGXCPU:
            return f"takes longer than {self._limits.seconds} seconds to read, so it was given up."
        return "is damaged in a way that broke off its reader, or asks for too much memory."
