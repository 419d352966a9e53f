"""The image files that records name: found in their folder, kept in the workspace, looked into once each."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session

from domain.errors import InvalidValue
from domain.vocabulary import View
from imaging.errors import UnreadableImage
from imaging.guarded import GuardedReader
from imaging.radiograph import ImageFacts
from intake.folders import ImageFolder
from storage.bulk import insert_rows, known_images
from storage.image_files import image_store
from storage.workspace import Workspace

_COLUMNS = ("sha256", "media_type", "bytes", "rows", "columns", "bits", "photometric")
#: A radiograph's file is 10 to 30 MB; far larger ones are not read into memory.
_LARGEST = 256 << 20
_FIELD = "exam.radiographs.file"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptImage:
    """An image file in the workspace."""

    sha256: str
    size: int
    facts: ImageFacts


class Pictures:
    """Image files by the paths that records give: fetched without the database, which nobody has to wait for,
    and written to it later.
    """

    def __init__(self, workspace: Workspace, folder: ImageFolder, reader: GuardedReader) -> None:
        """``reader`` is ended by whoever started it."""
        self._store, self._folder, self._reader = image_store(workspace), folder, reader
        self._by_text: dict[str, KeptImage | InvalidValue] = {}
        self._written: set[str] = set()
        self.fetched = self.new = 0

    def fetch(self, texts: Iterable[str]) -> None:
        """Find, keep and describe the files that are not known yet."""
        found: dict[str, _Found] = {}
        for text in dict.fromkeys(texts):
            if text in self._by_text:
                continue
            try:
                self._keep(text, found)
            except InvalidValue as error:
                self._by_text[text] = error
            except OSError as error:
                self._by_text[text] = InvalidValue(_FIELD, f"{text!r} can't be read: {error.strerror}")
        for (sha256, each), facts in zip(found.items(), self._described(found), strict=True):
            if isinstance(facts, UnreadableImage) and each.new:
                self._store.remove(sha256)
            for text in each.texts:
                self._by_text[text] = (
                    InvalidValue(_FIELD, f"{text!r} {_why(facts)}")
                    if isinstance(facts, UnreadableImage)
                    else KeptImage(sha256=sha256, size=each.size, facts=facts)
                )
        self.fetched += len(found)

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

    def _described(self, found: dict[str, _Found]) -> Iterator[ImageFacts | UnreadableImage]:
        """What each file says, read from where it is kept now; only a few are on this disk at a time."""
        opened: deque[ExitStack] = deque()

        def paths() -> Iterator[tuple[Path, str]]:
            for sha256, each in found.items():
                opened.append(ExitStack())
                yield opened[-1].enter_context(self._store.on_disk(sha256)), each.texts[0]

        try:
            for facts in self._reader.describe_all(paths()):
                opened.popleft().close()
                yield facts
        finally:
            for left in opened:
                left.close()

    def _keep(self, text: str, found: dict[str, _Found]) -> None:
        path = self._folder.find(text)
        size = path.stat().st_size
        if size > _LARGEST:
            raise InvalidValue(_FIELD, f"{text!r} has {size:,} bytes; at most {_LARGEST:,} are read")
        content = path.read_bytes()
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in found:
            new = not self._store.holds(sha256)
            found[sha256] = _Found(texts=[], size=len(content), new=new)
            if new:
                self._store.keep(sha256, content)
        found[sha256].texts.append(text)


@dataclass(slots=True, kw_only=True)
class _Found:
    """A file that is to be described: the paths that name it, and whether the workspace lacked it."""

    texts: list[str]
    size: int
    new: bool


def _why(refusal: UnreadableImage) -> str:
    return f"{refusal.attribute}: {refusal.reason}" if refusal.attribute else refusal.reason


def view_told(stated: str, facts: ImageFacts) -> str:
    """The record's view, or, where it says none, the image file's."""
    return facts.view.value if stated == View.UNKNOWN else stated
