"""The interface of a format's reader, and the class of a file that is opened for one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from intake.containers import RawRecord
from records.questions import QuestionRecord


class RecordReader(Protocol):
    """The interface of a format's reader, which converts records to native records."""

    def read(self, name: int | str, raw: bytes) -> QuestionRecord | None:
        """Convert a record. Return None if a mapping's filter skips it.

        Args:
            name: the name of the record: its line, index or key.
            raw: the bytes of the record.

        Raises:
            InvalidValue: the record is not valid.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """The records of a file and the reader of their format. ``count_bytes`` returns the bytes read so far."""

    records: Iterator[RawRecord]
    reader: RecordReader
    count_bytes: Callable[[], int]
