"""Reads, checks, optionally de-identifies and stores the image files that records name."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from sqlmodel import Session

from domain.errors import InvalidValue
from domain.vocabulary import View
from imaging.errors import UnreadableImage
from imaging.guarded import GuardedReader
from imaging.identity import IdentityValue
from imaging.radiograph import ImageFacts
from intake.folders import ImageFolder
from intake.service.door import Door
from intake.zipped import ZippedImages
from storage.images.files import image_store
from storage.intake.bulk import insert_rows, known_images
from storage.workspace import Workspace

_COLUMNS = ("sha256", "media_type", "bytes", "rows", "columns", "bits", "photometric")
#: The largest image file that is read into memory; a radiograph has 10 to 30 MB.
_LARGEST = 256 << 20
_FIELD = "exam.radiographs.file"
_WORKERS = 2
_AHEAD = 8  # the most files that are in memory at once


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptImage:
    """An image file in the workspace; ``identity`` are values of a header that is not stored."""

    sha256: str
    size: int
    facts: ImageFacts
    identity: tuple[IdentityValue, ...] = field(default=(), repr=False)


class Pictures:
    """The image files of an import, by the paths in the records.

    They are read and stored without the database, and their rows are written later. A file is stored after it
    was checked. If files are de-identified, the original is only in memory and never written to a disk.
    ``new`` counts the rows written.
    """

    def __init__(
        self, workspace: Workspace, folder: ImageFolder | ZippedImages, reader: GuardedReader, *, door: Door
    ) -> None:
        """``reader`` is closed by the caller."""
        self._store, self._folder, self._reader, self._door = image_store(workspace), folder, reader, door
        self._by_text: dict[str, KeptImage | InvalidValue] = {}
        self._written: set[str] = set()
        self._kept: set[str] = set()
        self.new = 0

    @property
    def fetched(self) -> int:
        """The number of different image files stored."""
        return len(self._kept)

    def fetch(self, texts: Iterable[str]) -> None:
        """Find, check and store the files that were not read yet.

        Args:
            texts: paths as in the records.

        Raises:
            OSError: a file could not be written, e.g. because the disk is full.
        """
        wanted = [text for text in dict.fromkeys(texts) if text not in self._by_text]
        for text, found in zip(wanted, self._in_order(wanted), strict=True):
            self._by_text[text] = found
            if isinstance(found, KeptImage):
                self._kept.add(found.sha256)

    def write(self, db: Session, texts: Iterable[str]) -> None:
        """Write the rows of the files with these paths."""
        images = (self._by_text.get(text) for text in texts)
        wanted = {each.sha256: each for each in images if isinstance(each, KeptImage)}
        wanted = {sha256: each for sha256, each in wanted.items() if sha256 not in self._written}
        there = known_images(db, sha256=wanted)
        rows = [
            (sha256, each.facts.media_type, each.size, each.facts.rows, each.facts.columns, each.facts.bits,
             each.facts.photometric)
            for sha256, each in wanted.items()
            if sha256 not in there
        ]  # fmt: skip
        insert_rows(db, table="image", columns=_COLUMNS, rows=rows)
        self._written |= wanted.keys()
        self.new += len(rows)

    def __getitem__(self, text: str) -> KeptImage:
        """The file with a path, which :meth:`fetch` has read.

        Raises:
            InvalidValue: the file is missing or can't be used, with the reason.
        """
        found = self._by_text.get(text) or InvalidValue(
            "file", "was changed while it was read; import it again"
        )
        if isinstance(found, InvalidValue):
            raise found
        return found

    def _in_order(self, texts: list[str]) -> Iterator[KeptImage | InvalidValue]:
        with ThreadPoolExecutor(_WORKERS) as threads:
            waiting: deque[Future[KeptImage | InvalidValue]] = deque()
            try:
                for text in texts:
                    waiting.append(threads.submit(self._brought_in, text))
                    if len(waiting) >= _AHEAD:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def _brought_in(self, text: str) -> KeptImage | InvalidValue:
        try:
            content = self._folder.read(text, largest=_LARGEST)
            if self._door.deidentify:
                known = self._reader.deidentified(content, name=text, key=self._door.key, identity=True)
                content = known.content or b""
            else:
                known = self._reader.known_of(content, name=text, key=self._door.key)
        except InvalidValue as error:
            return error
        except UnreadableImage as error:
            return InvalidValue(_FIELD, f"{text!r} {_why(error)}")
        sha256 = hashlib.sha256(content).hexdigest()
        if not self._store.holds(sha256):
            self._store.keep(sha256, content)
        return KeptImage(sha256=sha256, size=len(content), facts=known.facts, identity=known.identity)


def _why(refusal: UnreadableImage) -> str:
    return f"{refusal.attribute}: {refusal.reason}" if refusal.attribute else refusal.reason


def view_told(stated: str, facts: ImageFacts) -> str:
    """The view that the record states; if it states none, that of the image file."""
    return facts.view.value if stated == View.UNKNOWN else stated
