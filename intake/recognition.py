"""Recognises the format of a question file from its first record."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from itertools import islice
from typing import Any, NamedTuple, Protocol

from domain.errors import InvalidValue
from domain.expectations import Expectations
from intake.containers import Container, QuestionFile
from intake.formats import gemex, gemex_train, native, rexvqa, vqa_rad
from intake.strict_json import decode_strictly
from records.questions import QuestionRecord

#: The number of records, and of values that are no records, that are tried before a file counts as unknown.
_MAX_TRIED, _MAX_VALUES = 5, 100


_NO_RECORD = "no record: write one object per line, or a list of objects"


class FileFormat(StrEnum):
    """The formats of question files; the two of GEMeX have one name on the command line."""

    NATIVE = "native"
    REXVQA = "rexvqa"
    GEMEX = "gemex"
    GEMEX_TRAIN = "gemex-train"
    VQA_RAD = "vqa-rad"


class RecordReader(Protocol):
    """The interface of a format: it converts its records to native ones."""

    def read(self, name: int | str, raw: bytes) -> QuestionRecord:
        """Convert a record.

        Args:
            name: of the record: its line, place or key.
            raw: its bytes.

        Raises:
            InvalidValue: the record is not valid; names field and reason.
        """


class _Format(NamedTuple):
    looks_like: Callable[[dict[str, Any]], bool]
    reader: Callable[[str], RecordReader]
    expectations: Expectations


_FORMATS = {
    FileFormat.NATIVE: _Format(native.looks_like, native.NativeReader, native.EXPECTATIONS),
    FileFormat.REXVQA: _Format(rexvqa.looks_like, rexvqa.RexvqaReader, rexvqa.EXPECTATIONS),
    FileFormat.GEMEX_TRAIN: _Format(
        gemex_train.looks_like, gemex_train.GemexTrainReader, gemex_train.EXPECTATIONS
    ),
    FileFormat.GEMEX: _Format(gemex.looks_like, gemex.GemexTestReader, gemex.EXPECTATIONS),
    FileFormat.VQA_RAD: _Format(vqa_rad.looks_like, vqa_rad.VqaRadReader, vqa_rad.EXPECTATIONS),
}


def create_reader(file_format: FileFormat, file_stem: str) -> RecordReader:
    """A reader of a format, for one pass over one file; ``file_stem`` is its name without the ending."""
    return _FORMATS[file_format].reader(file_stem)


def get_expectations(file_format: FileFormat) -> Expectations:
    """What the structural checks expect of the questions of a format."""
    return _FORMATS[file_format].expectations


def recognise_file(file: QuestionFile, requested: str) -> tuple[Container, FileFormat]:
    """The kind and the format of a file.

    Args:
        file: the file.
        requested: "auto" or the name of a format.

    Raises:
        InvalidValue: the format is not recognised; the text describes the first record and the known formats.
    """
    container = file.detect_container()
    descriptions: list[str] = []
    for _, raw in islice(file.read_records(container), _MAX_VALUES):
        try:
            if isinstance(raw, InvalidValue):
                raise raw
            record = decode_strictly(raw)
        except InvalidValue as error:
            descriptions.append(str(error))
        else:
            if not isinstance(record, dict):
                continue
            matching = [name for name, known in _FORMATS.items() if known.looks_like(record)]
            chosen = _choose_format(requested, matching)
            if chosen is not None:
                return container, chosen
            descriptions.append(f"a record with {', '.join(list(record)[:12])}")
        if len(descriptions) == _MAX_TRIED:
            break
    if requested != "auto":
        # The records are then refused one by one, each with its reason.
        return container, FileFormat(requested)
    first_description = descriptions[0] if descriptions else _NO_RECORD
    raise InvalidValue(
        "format",
        f"not recognised: it begins with {first_description}. Overread reads native, ReXVQA, GEMeX (test and "
        "training) and VQA-RAD; convert other files to the native format (docs/formats/)",
    )


def _choose_format(requested: str, matching: list[FileFormat]) -> FileFormat | None:
    if requested == "auto":
        return matching[0] if matching else None
    if requested == FileFormat.GEMEX and FileFormat.GEMEX_TRAIN in matching:
        return FileFormat.GEMEX_TRAIN
    return FileFormat(requested) if FileFormat(requested) in matching else None
