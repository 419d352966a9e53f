"""The base class of all export formats. Questions are written one by one, and omitted content is counted."""

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

#: A function that returns the bytes of a radiograph's file, or None if the workspace does not have it.
OriginalLoader = Callable[[Radiograph], bytes | None]


class FormatLimitation(StrEnum):
    """Why a format omits a question or a part of it. The manifest has the counts."""

    OTHER_FORMAT = "left out: not single choice"
    SEVERAL_CORRECT = "left out: several answers are right by themselves"
    NOT_WRITABLE = "left out: its text would be read as part of the form"
    TWO_RADIOGRAPHS = "left out: boxes on two radiographs of one exam"
    NO_SIZE = "left out: boxes on an image whose size is not known"
    BOXES = "without its boxes, which the form does not have"
    LABELS = "without the labels of its boxes, which the form does not have"


class FormatName(StrEnum):
    """The export formats in addition to the native one. The values are stored in manifests."""

    REXVQA = "rexvqa"
    GEMEX = "gemex"
    COCO = "coco"
    PARQUET = "parquet"


class FormatWriter:
    """Writes the files of one export format to the folder of the release, in one pass."""

    #: The name of the format in the manifest.
    name: str

    def __init__(self, folder: Path, *names: str) -> None:
        """Create the files with these names in a folder; they must not exist."""
        self.limitations: Counter[FormatLimitation] = Counter()
        self._folder = folder
        self._files: dict[str, HashedFile] = {}
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            self._files[name] = HashedFile(folder / name)

    def add(self, gold: GoldItem) -> None:
        """Write one question."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write the end of the files."""

    def list_entries(self) -> list[Entry]:
        """Return the files with their lengths and hashes; complete after the ``with`` block."""
        return [Entry(path=name, bytes=file.bytes, sha256=file.sha256) for name, file in self._files.items()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the files and flush them to the disk, unless there was an error."""
        if kind is None:
            self.finish()
        for name, file in list(self._files.items()):
            file.__exit__(kind, error, trace)
            if not file.bytes:  # no question has the answer format of this file
                (self._folder / name).unlink()
                del self._files[name]


class JsonContainerWriter:
    """Writes a JSON array or object member by member."""

    def __init__(self, file: HashedFile, *, brackets: str) -> None:
        """``brackets`` is ``[]`` or ``{}``."""
        self._file, self._closing_bracket = file, brackets[1]
        self._separator = f"{brackets[0]}\n".encode()
        self._is_empty = True

    def add(self, member: bytes) -> None:
        """Write one member, which is already JSON."""
        self._file.write(self._separator + member)
        self._separator, self._is_empty = b",\n", False

    def close(self) -> None:
        """Write the closing bracket. The result is valid without members, too."""
        self._file.write(
            (self._separator if self._is_empty else b"\n") + f"{self._closing_bracket}\n".encode()
        )


def frontal_radiograph(exam: Exam) -> Radiograph:
    """Return the first frontal radiograph of an exam; without one, its first radiograph."""
    return next(
        (radiograph for radiograph in exam.radiographs if radiograph.view in (View.PA, View.AP)),
        exam.radiographs[0],
    )
