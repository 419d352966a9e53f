"""Recognises the format of a question file from its first record, unless a mapping declares it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from domain.errors import InvalidValue
from domain.expectations import Expectations
from intake.containers import Container, QuestionFile
from intake.formats import gemex, gemex_train, native, rexvqa, vqa_rad
from intake.mapping.declaration import Mapping
from intake.mapping.opening import OpenedFile, detect_mapped_container, open_mapped_file
from intake.record_reader import RecordReader
from intake.strict_json import decode_strictly

#: At most this many records, and this many values of any type, are examined to recognise a format.
_MAX_TRIED, _MAX_VALUES = 5, 100


_NO_RECORD = "a value that is not a record; write one object per line, or a list of objects"


class FileFormat(StrEnum):
    """The formats of question files. The two formats of GEMeX have one name on the command line."""

    NATIVE = "native"
    REXVQA = "rexvqa"
    GEMEX = "gemex"
    GEMEX_TRAIN = "gemex-train"
    VQA_RAD = "vqa-rad"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognisedFile:
    """A question file whose structure and format are known.

    ``format_name`` is the value of a FileFormat, or the name of the mapping.
    """

    path: Path
    container: Container
    format_name: str
    mapping: Mapping | None = None

    @property
    def expectations(self) -> Expectations:
        """The fields and options that the structural checks expect of the questions."""
        if self.mapping is not None:
            return self.mapping.expectations
        return _FORMATS[FileFormat(self.format_name)].expectations

    @property
    def size(self) -> int:
        """The size of the file, or of the files of a folder that a mapping reads, in bytes."""
        return sum(path.stat().st_size for path in self.list_files())

    def list_files(self) -> list[Path]:
        """Return the file, or the sorted files of a folder that a mapping reads."""
        if self.path.is_dir() and self.mapping is not None and self.mapping.content.input.files:
            return sorted(self.path.glob(self.mapping.content.input.files))
        return [self.path]

    def open(self, file_stem: str) -> OpenedFile:
        """Open the file for one pass.

        Args:
            file_stem: the user's name of the file, without its extension.

        Raises:
            InvalidValue: the file can't be read, or the mapping does not fit it.
        """
        if self.mapping is not None:
            return open_mapped_file(self.path, self.mapping, file_stem)
        file = QuestionFile(self.path)
        return OpenedFile(
            records=file.read_records(self.container),
            reader=_FORMATS[FileFormat(self.format_name)].reader(file_stem),
            count_bytes=lambda: file.bytes_read,
        )


def recognise_file(path: Path, requested: str, mapping: Mapping | None = None) -> RecognisedFile:
    """Recognise the structure and the format of a file.

    Args:
        path: the file.
        requested: "auto" or the name of a format.
        mapping: the mapping that declares the format; None for one of the formats that Overread knows.

    Raises:
        InvalidValue: the format is not recognised, or the mapping can't read the file.
    """
    if mapping is not None:
        container = detect_mapped_container(path, mapping.content.input)
        return RecognisedFile(
            path=path, container=container, format_name=mapping.content.name, mapping=mapping
        )
    container, file_format = _recognise(QuestionFile(path), requested)
    return RecognisedFile(path=path, container=container, format_name=file_format.value)


def _recognise(file: QuestionFile, requested: str) -> tuple[Container, FileFormat]:
    """Recognise the structure and the format of a file without a mapping.

    Raises:
        InvalidValue: the format is not recognised; the message describes the first record and known formats.
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
            matching = [name for name, file_format in _FORMATS.items() if file_format.looks_like(record)]
            chosen_format = _choose_format(requested, matching)
            if chosen_format is not None:
                return container, chosen_format
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
        "training) and VQA-RAD; other files need a mapping (docs/formats/mapping.md)",
    )


def _choose_format(requested: str, matching: list[FileFormat]) -> FileFormat | None:
    if requested == "auto":
        return matching[0] if matching else None
    if requested == FileFormat.GEMEX and FileFormat.GEMEX_TRAIN in matching:
        return FileFormat.GEMEX_TRAIN
    return FileFormat(requested) if FileFormat(requested) in matching else None
