"""What all forms have in common: one released question after the other goes in, what is lost is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from domain.exams import Exam, Radiograph
from domain.gold import GoldItem
from domain.vocabulary import View
from release.folder import HashedFile
from release.manifest import Entry

#: Gives the original bytes of a radiograph, or None where the workspace has none.
Original = Callable[[Radiograph], bytes | None]


class Lacks(StrEnum):
    """Why a question, or something of it, is not in a form; the manifest has it with its count."""

    OTHER_FORMAT = "left out: not single choice"
    SEVERAL_RIGHT = "left out: several answers are right by themselves"
    NOT_WRITABLE = "left out: its text would be read as part of the form"
    TWO_RADIOGRAPHS = "left out: boxes on two radiographs of one exam"
    NO_SIZE = "left out: boxes on an image whose size is not known"
    BOXES = "without its boxes, which the form does not have"
    LABELS = "without the labels of its boxes, which the form does not have"


class FormName(StrEnum):
    """The forms beside the native one that a release may be written in; the value is what manifests say."""

    REXVQA = "rexvqa"
    GEMEX = "gemex"
    COCO = "coco"
    PARQUET = "parquet"


class Form:
    """One form of a release: files in its folder, written in one pass."""

    #: Its name in the manifest.
    name: str

    def __init__(self, folder: Path, *names: str) -> None:
        """Open these files in that folder; they must not be there yet."""
        self.lacks: Counter[Lacks] = Counter()
        self._folder = folder
        self._files: dict[str, HashedFile] = {}
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            self._files[name] = HashedFile(folder / name)

    def add(self, gold: GoldItem) -> None:
        """Write one question."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what comes after the last question."""

    def entries(self) -> list[Entry]:
        """The files with their lengths and hashes, once the block is left."""
        return [Entry(path=name, bytes=file.bytes, sha256=file.sha256) for name, file in self._files.items()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """All files on the disk, unless an error is on its way."""
        if kind is None:
            self.finish()
        for name, file in list(self._files.items()):
            file.__exit__(kind, error, trace)
            if not file.bytes:  # a file for another answer format
                (self._folder / name).unlink()
                del self._files[name]


class Array:
    """A JSON array or object that grows by one member at a time."""

    def __init__(self, file: HashedFile, *, brackets: str) -> None:
        """``brackets`` is ``[]`` or ``{}``."""
        self._file, self._last = file, brackets[1]
        self._before = f"{brackets[0]}\n".encode()
        self._empty = True

    def add(self, member: bytes) -> None:
        """One more member, as JSON."""
        self._file.write(self._before + member)
        self._before, self._empty = b",\n", False

    def close(self) -> None:
        """The end; one without members is well-formed too."""
        self._file.write((self._before if self._empty else b"\n") + f"{self._last}\n".encode())


def frontal(exam: Exam) -> Radiograph:
    """The first frontal radiograph of the exam, else its first."""
    return next((each for each in exam.radiographs if each.view in (View.PA, View.AP)), exam.radiographs[0])
