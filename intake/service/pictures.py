"""The image files that records name: found in their folder, kept in the workspace, looked into once each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlmodel import Session

from domain.errors import InvalidValue
from domain.vocabulary import View
from imaging.errors import UnreadableImage
from imaging.guarded import GuardedReader
from imaging.radiograph import ImageFacts
from intake.folders import ImageFolder
from storage.bulk import insert_rows, known_images
from storage.image_files import image_path, keep_image
from storage.workspace import Workspace

_COLUMNS = ("sha256", "media_type", "bytes", "rows", "columns", "bits", "photometric")
#: A radiograph's file is 10 to 30 MB; far larger ones are not read into memory.
_LARGEST = 256 << 20
# Files remembered by their path; forgotten ones are only read again.
_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptImage:
    """An image file in the workspace."""

    sha256: str
    facts: ImageFacts


class Pictures:
    """Image files by the paths that records give."""

    def __init__(self, workspace: Workspace, folder: ImageFolder, reader: GuardedReader) -> None:
        """``reader`` is ended by whoever started it."""
        self._workspace, self._folder, self._reader = workspace, folder, reader
        self._by_text: dict[str, KeptImage | InvalidValue] = {}
        self.new = 0

    def fetch(self, db: Session, texts: Iterable[str]) -> None:
        """Find, keep and describe the files that are not known yet; new ones get their row."""
        if len(self._by_text) > _REMEMBERED:
            self._by_text.clear()
        kept: dict[str, list[str]] = {}
        sizes: dict[str, int] = {}
        for text in dict.fromkeys(texts):
            if text in self._by_text:
                continue
            try:
                path = self._folder.find(text)
                size = path.stat().st_size
                if size > _LARGEST:
                    raise InvalidValue(
                        "exam.radiographs.file", f"{text!r} has {size:,} bytes; at most {_LARGEST:,} are read"
                    )
                sha256 = keep_image(self._workspace, content=path.read_bytes())
            except InvalidValue as error:
                self._by_text[text] = error
                continue
            except OSError as error:
                self._by_text[text] = InvalidValue(
                    "exam.radiographs.file", f"{text!r} can't be read: {error.strerror}"
                )
                continue
            kept.setdefault(sha256, []).append(text)
            sizes[sha256] = size
        self._describe(db, kept, sizes)

    def __getitem__(self, text: str) -> KeptImage:
        """The file of that path, which was fetched before.

        Raises:
            InvalidValue: why there is none.
        """
        found = self._by_text[text]
        if isinstance(found, InvalidValue):
            raise found
        return found

    def _describe(self, db: Session, kept: dict[str, list[str]], sizes: dict[str, int]) -> None:
        if not kept:
            return
        there = known_images(db, sha256=kept)
        asked = [(image_path(self._workspace, sha256=sha256), texts[0]) for sha256, texts in kept.items()]
        rows = []
        for (sha256, texts), facts in zip(kept.items(), self._reader.describe_all(asked), strict=True):
            if isinstance(facts, UnreadableImage):
                told = f"{facts.attribute}: {facts.reason}" if facts.attribute else facts.reason
                for text in texts:
                    self._by_text[text] = InvalidValue("exam.radiographs.file", f"{text!r} {told}")
                if sha256 not in there:
                    image_path(self._workspace, sha256=sha256).unlink(missing_ok=True)
                continue
            for text in texts:
                self._by_text[text] = KeptImage(sha256=sha256, facts=facts)
            if sha256 not in there:
                rows.append(
                    (
                        sha256,
                        facts.media_type,
                        sizes[sha256],
                        facts.rows,
                        facts.columns,
                        facts.bits,
                        facts.photometric,
                    )
                )
        insert_rows(db, table="image", columns=_COLUMNS, rows=rows)
        self.new += len(rows)


def view_told(stated: str, facts: ImageFacts) -> str:
    """The record's view, or, where it says none, the image file's."""
    return facts.view.value if stated == View.UNKNOWN else stated
