"""Recognises the format of a question file from its first record."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from itertools import islice
from typing import Any, Protocol

from domain.errors import InvalidValue
from intake.containers import Container, QuestionFile
from intake.formats import gemex, gemex_train, native, rexvqa, vqa_rad
from intake.strictness import refuse_ambiguous
from records.questions import QuestionRecord

#: The number of records that are tried before a file counts as unknown.
_LOOKED_AT = 5


class FileFormat(StrEnum):
    """The formats of question files; the two of GEMeX have one name on the command line."""

    NATIVE = "native"
    REXVQA = "rexvqa"
    GEMEX = "gemex"
    GEMEX_TRAIN = "gemex-train"
    VQA_RAD = "vqa-rad"


class Reader(Protocol):
    """The interface of a format: it converts its records to native ones."""

    def read(self, name: int | str, raw: bytes) -> QuestionRecord:
        """Convert a record.

        Args:
            name: of the record: its line, place or key.
            raw: its bytes.

        Raises:
            InvalidValue: the record is not valid; names field and reason.
        """


_KNOWN: dict[FileFormat, tuple[Callable[[dict[str, Any]], bool], Callable[[str], Reader]]] = {
    FileFormat.NATIVE: (native.looks_like, native.Native),
    FileFormat.REXVQA: (rexvqa.looks_like, rexvqa.ReXVQA),
    FileFormat.GEMEX_TRAIN: (gemex_train.looks_like, gemex_train.GemexTrain),
    FileFormat.GEMEX: (gemex.looks_like, gemex.GemexTest),
    FileFormat.VQA_RAD: (vqa_rad.looks_like, vqa_rad.VqaRad),
}


def reader_for(file_format: FileFormat, file_stem: str) -> Reader:
    """A reader of a format, for one pass over one file; ``file_stem`` is its name without the ending."""
    return _KNOWN[file_format][1](file_stem)


def recognised(file: QuestionFile, asked: str) -> tuple[Container, FileFormat]:
    """The kind and the format of a file.

    Args:
        file: the file.
        asked: "auto" or the name of a format.

    Raises:
        InvalidValue: the format is not recognised; the text describes the first record and the known formats.
    """
    container = file.container()
    seen: list[str] = []
    for _, raw in islice(file.records(container), _LOOKED_AT):
        if isinstance(raw, InvalidValue):
            seen.append(str(raw))
            continue
        try:
            record = refuse_ambiguous(raw)
        except InvalidValue as error:
            seen.append(str(error))
            continue
        fits = [
            name
            for name, (looks_like, _) in _KNOWN.items()
            if isinstance(record, dict) and looks_like(record)
        ]
        named = _named(asked, fits)
        if named is not None:
            return container, named
        fields = ", ".join(list(record)[:12]) if isinstance(record, dict) else type(record).__name__
        seen.append(f"a record with {fields}")
    if asked != "auto":
        # The records are then refused one by one, each with its reason.
        return container, FileFormat(asked)
    found = seen[0] if seen else "no record"
    raise InvalidValue(
        "format",
        f"not recognised: it begins with {found}. Overread reads native, ReXVQA, GEMeX (test and training) "
        "and VQA-RAD; bring other files to the native form (docs/formats/)",
    )


def _named(asked: str, fits: list[FileFormat]) -> FileFormat | None:
    if asked == "auto":
        return fits[0] if fits else None
    if asked == FileFormat.GEMEX and FileFormat.GEMEX_TRAIN in fits:
        return FileFormat.GEMEX_TRAIN
    return FileFormat(asked) if FileFormat(asked) in fits else None
