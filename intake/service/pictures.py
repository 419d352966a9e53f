"""The image files that records name: found, looked into, de-identified where the door does so, and kept."""

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
#: A radiograph's file is 10 to 30 MB; far larger ones are not read into memory.
_LARGEST = 256 << 20
_FIELD = "exam.radiographs.file"
_WORKERS = 2
_AHEAD = 8  # files that are in memory at once, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptImage:
    """An image file in the workspace. ``identity`` is of a header that is not kept, for searching texts."""

    sha256: str
    size: int
    facts: ImageFacts
    identity: tuple[IdentityValue, ...] = field(default=(), repr=False)


class Pictures:
    """Image files by the paths that records give: fetched without the database, which nobody has to wait for,
    and written to it later. A file is kept once it is known to be good, and as the door lets it through:
    where files are de-identified, the original stays in memory and nothing of it is written.
    """

    def __init__(
        self, workspace: Workspace, folder: ImageFolder | ZippedImages, reader: GuardedReader, *, door: Door
    ) -> None:
        """``reader`` is ended by whoever started it."""
        self._store, self._folder, self._reader, self._door = image_store(workspace), folder, reader, door
        self._by_text: dict[str, KeptImage | InvalidValue] = {}
        self._written: set[str] = set()
        self._kept: set[str] = set()
        self.new = 0

    @property
    def fetched(self) -> int:
        """How many different files were brought in."""
        return len(self._kept)

    def fetch(self, texts: Iterable[str]) -> None:
        """Find, describe and keep the files that are not known yet.

        Raises:
            OSError: one could not be written, the disk being full perhaps: the import can't go on.
        """
        wanted = [text for text in dict.fromkeys(texts) if text not in self._by_text]
        for text, found in zip(wanted, self._in_order(wanted), strict=True):
            self._by_text[text] = found
            if isinstance(found, KeptImage):
                self._kept.add(found.sha256)

    def write(self, db: Session, texts: Iterable[str]) -> None:
        """Give the fetched files of those paths their rows."""
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
        """The file of that path, which was fetched before.

        Raises:
            InvalidValue: why there is none.
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
    """The record's view, or, where it says none, the image file's."""
    return facts.view.value if stated == View.UNKNOWN else stated
