"""The native format `overread.question/1`: one record per line."""

from __future__ import annotations

from typing import Any

from domain.expectations import COMPLETE
from intake.strict_json import decode, decode_plain_lines
from records.decoding import make_decoder
from records.questions import QuestionRecord

_decoder = make_decoder(QuestionRecord)

#: Native questions are expected to have all fields.
EXPECTATIONS = COMPLETE


def looks_like(record: dict[str, Any]) -> bool:
    """Return whether a file with this first record is native."""
    return {"stem", "format", "exam"} <= record.keys()


class NativeReader:
    """Reads native records, which need no conversion."""

    def __init__(self, file_stem: str) -> None:
        """Create a reader. The file's name is not used."""

    def read(self, name: int | str, raw: bytes) -> QuestionRecord:  # noqa: ARG002 - the interface of all formats
        return decode(raw, _decoder, has_all_fields=True)

    def read_lines(self, raw_records: list[bytes]) -> list[QuestionRecord] | None:
        """Decode many lines at once; None if they must be read one by one with ``read``."""
        return decode_plain_lines(raw_records, _decoder)
