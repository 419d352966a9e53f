"""The interface of a format's reader, and a file that is opened for one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from intake.containers import RawRecord
from records.questions import QuestionRecord


class RecordReader(Protocol):
    """The interface of a format: it converts its records to native ones."""

    def read(self, name: int | str, raw: bytes) -> QuestionRecord | None:
        """Convert a record; None if it is no question to import.

        Args:
            name: of the record: its line, place or key.
            raw: its bytes.

        Raises:
            InvalidValue: the record is not valid; names field and reason.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """The records of a file and the reader of their format; ``count_bytes`` gives the bytes read so far."""

    records: Iterator[RawRecord]
    reader: RecordReader
    count_bytes: Callable[[], int]
