"""Reads untrusted image files in separate processes with limits on time and memory.

Each of a few decoder processes reads many files. A process that exceeds a limit or crashes on a damaged file
is ended and replaced, and its file is refused with the reason. A replacement is started before it is needed,
so that the next file does not wait for the codecs to load.
"""

from __future__ import annotations

import itertools
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from imaging.decoder_process import DecoderProcess, Limits
from imaging.errors import UnreadableImage
from imaging.identity import IdentityKind, IdentityValue
from imaging.pseudonyms import PseudonymKey
from imaging.radiograph import DecodedRadiograph, ImageFacts, Window
from imaging.wire import WorkerResponse, decode_radiograph, facts_from_json

if TYPE_CHECKING:
    from imaging.render import RenderedPngs

_FILES_PER_PROCESS = 2_000  # then a process is replaced, so that memory leaks of codecs don't add up


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedPixels:
    """A radiograph for the browser: ``facts`` as JSON in UTF-8, ``matrix`` as gzip of the stored values."""

    facts: bytes
    matrix: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageDescription:
    """The facts of a file.

    ``identity`` contains the identifying values of the header if they were requested; they must not be
    stored. ``content`` is the de-identified file, or None if the file was not de-identified. ``notes`` are
    for the user.
    """

    facts: ImageFacts
    identity: tuple[IdentityValue, ...] = field(default=(), repr=False)
    content: bytes | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()


class GuardedDecoder:
    """Reads image files in separate processes. Threads may share one decoder.

    ``workers`` is the number of processes. They are started on first use and ended at the end of the ``with``
    block. ``limits`` apply to each file.
    """

    def __init__(self, *, workers: int = 2, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._worker_count = workers
        self._idle: queue.PriorityQueue[tuple[int, int, DecoderProcess | None]] = queue.PriorityQueue()
        self._tie_breakers = itertools.count(0, -1)
        self._successors: dict[DecoderProcess, DecoderProcess] = {}
        for _ in range(workers):
            self._return_process(None)  # None stands for a process that has not been started

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start all processes in the background, so that the first file does not wait for one."""
        processes = [self._take_process() for _ in range(self._worker_count)]
        for process in processes:
            self._return_process(process or DecoderProcess(self._limits))

    def close(self) -> None:
        """End the processes, each after its current file."""
        for _ in range(self._worker_count):
            process = self._take_process()
            if process is not None:
                process.end()
                if (successor := self._successors.pop(process, None)) is not None:
                    successor.end()
        for _ in range(self._worker_count):
            self._return_process(None)

    def describe(self, path: Path, *, name: str | None = None) -> ImageFacts:
        """Call :func:`imaging.reader.describe` for a file.

        Args:
            path: the path of the file.
            name: the file name, used in error messages; by default the last part of the path.

        Raises:
            UnreadableImage: the file can't be read, or exceeds a limit.
        """
        response = self._request(path, name=name, operation="describe")
        return facts_from_json(response[0]["facts"])

    def describe_with_identity(
        self, content: bytes | Path, *, name: str, key: PseudonymKey | None, identity: bool = False
    ) -> ImageDescription:
        """Read the facts of a file and, on request, the identifying values of its header.

        Args:
            content: the file, as bytes or as a path.
            name: the file name, used in error messages.
            key: the key for the patient's pseudonym; None to leave the patient out.
            identity: whether to also call :func:`imaging.identity.read_identity`.

        Raises:
            UnreadableImage: the file can't be read, or exceeds a limit.
        """
        header, _ = self._request(
            content, name=name, operation="describe", key=_key_to_hex(key), identity=identity
        )
        return ImageDescription(facts=facts_from_json(header["facts"]), identity=_parse_identity(header))

    def deidentify_file(
        self, content: bytes | Path, *, name: str, key: PseudonymKey, identity: bool = False
    ) -> ImageDescription:
        """Call :func:`imaging.deidentify.deidentify` for a file; ``content`` of the result is the new file.

        Args:
            content: the file, as bytes or as a path.
            name: the file name, used in error messages.
            key: the key for the pseudonyms.
            identity: whether to also call :func:`imaging.identity.read_identity` for the original file.

        Raises:
            UnreadableImage: the file can't be de-identified, or exceeds a limit.
        """
        header, files = self._request(
            content, name=name, operation="deidentify", key=_key_to_hex(key), identity=identity
        )
        return ImageDescription(
            facts=facts_from_json(header["facts"]),
            identity=_parse_identity(header),
            content=files[0],
            notes=tuple(header["notes"]),
        )

    def decode(self, path: Path, *, name: str | None = None) -> DecodedRadiograph:
        """Call :func:`imaging.reader.read_radiograph` for a file.

        Args:
            path: the path of the file.
            name: the file name, used in error messages; by default the last part of the path.

        Raises:
            UnreadableImage: the file can't be read, or exceeds a limit.
        """
        return decode_radiograph(self._request(path, name=name, operation="decode"))

    def render_jpeg(
        self,
        content: bytes | Path,
        *,
        name: str | None = None,
        window: Window | None = None,
        longest_side: int | None = None,
    ) -> bytes:
        """Decode a file and call :func:`imaging.display.render_display_jpeg` for it.

        Args:
            content: the file, as bytes or as a path.
            name: the file name, used in error messages; by default the last part of the path.
            window: a window in values after the modality transform; None for the first window of the file.
            longest_side: the maximum length of the longer side in pixels; None for full size.

        Raises:
            UnreadableImage: the file can't be read, or exceeds a limit.
        """
        window_fields = None if window is None else asdict(window)
        return self._request(
            content, name=name, operation="render_jpeg", window=window_fields, longest_side=longest_side
        )[1][0]

    def encode_pixels(self, path: Path, *, name: str | None = None) -> EncodedPixels:
        """Decode a file, and encode its facts and pixels for the viewer.

        See :func:`imaging.viewer_facts.build_viewer_facts` and :func:`imaging.matrix.encode_matrix`.

        Args:
            path: the path of the file.
            name: the file name, used in error messages; by default the last part of the path.

        Raises:
            UnreadableImage: the file can't be read, or exceeds a limit.
        """
        facts, matrix = self._request(path, name=name, operation="encode_pixels")[1]
        return EncodedPixels(facts=facts, matrix=matrix)

    def render_png(
        self,
        path: Path,
        *,
        name: str | None = None,
        bits: int = 8,
        window: Window | None = None,
        quarter: bool = False,
    ) -> RenderedPngs:
        """Decode a file and call :func:`imaging.render.render_pngs` for it.

        Args:
            path: the path of the file.
            name: the file name, used in error messages; by default the last part of the path.
            bits: the bit depth of the PNG, 8 or 16.
            window: a window in values after the modality transform; None for the default of the bit depth.
            quarter: whether to also render a PNG with a quarter of the side lengths.

        Raises:
            UnreadableImage: the file can't be read, or exceeds a limit.
        """
        from imaging.render import RenderedPngs  # noqa: PLC0415 - pydicom is slow to import

        window_fields = None if window is None else asdict(window)
        files = self._request(
            path, name=name, operation="render_png", bits=bits, window=window_fields, quarter=quarter
        )[1]
        return RenderedPngs(full=files[0], quarter=files[1] if quarter else None)

    def _request(
        self, file: Path | bytes, *, name: str | None, operation: str, **parameters: object
    ) -> WorkerResponse:
        """Send a request with the path of a file, or with its bytes if it is not on a disk."""
        if isinstance(file, bytes):
            name, content = name or "the file", file
            request = {"operation": operation, "length": len(file), "name": name, **parameters}
        else:
            name, content = name or file.name, b""
            request = {"operation": operation, "path": str(file.resolve()), "name": name, **parameters}
        with self._borrow_process() as process:
            response = process.send_request(request, content, name=name)
        refusal = response[0].get("refused")
        if refusal is not None:
            raise UnreadableImage(name, refusal, attribute=response[0]["attribute"])
        return response

    @contextmanager
    def _borrow_process(self) -> Iterator[DecoderProcess]:
        process = self._take_process()
        try:
            if process is None:
                process = DecoderProcess(self._limits)
            yield process
        finally:
            try:
                process = self._same_or_successor(process)
            finally:
                self._return_process(process)

    def _take_process(self) -> DecoderProcess | None:
        return self._idle.get()[2]

    def _return_process(self, process: DecoderProcess | None) -> None:
        """Return a process to the pool.

        Ready processes are used first, the most recently used before others.
        """
        rank = 2 if process is None else 0 if process.is_ready else 1
        self._idle.put((rank, next(self._tie_breakers), process))

    def _same_or_successor(self, process: DecoderProcess | None) -> DecoderProcess | None:
        """Return this process for the next file, or its successor if it broke or has read enough files."""
        if process is None or not (process.broken or process.request_count >= _FILES_PER_PROCESS):
            return process
        successor = self._successors.pop(process, None) or self._start_process()
        if successor is not None and not process.broken and not successor.is_ready:
            self._successors[process] = successor
            return process
        process.end()
        return successor

    def _start_process(self) -> DecoderProcess | None:
        try:
            return DecoderProcess(self._limits)
        except OSError:  # no process can be started now; the next file tries again
            return None


def _key_to_hex(key: PseudonymKey | None) -> str | None:
    return None if key is None else key.secret.hex()


def _parse_identity(header: dict[str, Any]) -> tuple[IdentityValue, ...]:
    return tuple(
        IdentityValue(kind=IdentityKind(kind), value=value) for kind, value in header.get("identity", [])
    )
