"""Parses an untrusted file of readings in a separate process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from domain.problems import Refusal
from intake.guarded_process import parts_of, send_all
from reader_study.readings_file import ReadingRecord, read_records


def guarded_readings(path: Path, *, file: str) -> tuple[list[ReadingRecord], list[Refusal]]:
    """:func:`reader_study.readings_file.read_records` in a separate process.

    Args:
        path: the file.
        file: the user's name of the file, for refusals.

    Raises:
        Refused: the process ended before the end of the file.
        OSError: the file can't be read.
    """
    with path.open("rb"):  # a file that can't be opened raises its error here, in the caller's process
        pass
    records: list[ReadingRecord] = []
    refusals: list[Refusal] = []
    for good, bad in parts_of("reader_study.readings_process", path, {}):
        records += [_record(plain) for plain in good]
        refusals += [Refusal(file=file, record=line, field=field, reason=why) for line, field, why in bad]
    return records, refusals


def _record(plain: tuple[Any, ...]) -> ReadingRecord:
    line, study, reader, question_id, answer, confidence, seconds, read_at = plain
    return ReadingRecord(
        line=line,
        study=study,
        reader=reader,
        question_id=question_id,
        answer=answer,
        confidence=confidence,
        seconds=seconds,
        read_at=datetime.fromisoformat(read_at),
    )


def _parts(asked: dict[str, Any]) -> Iterator[Any]:
    path = Path(asked["path"])
    records, refusals = read_records(path.read_bytes(), file=path.name)
    yield (
        [
            (
                each.line, each.study, each.reader, each.question_id, each.answer, each.confidence,
                each.seconds, each.read_at.isoformat(),
            )
            for each in records
        ],
        [(each.record, each.field, each.reason) for each in refusals],
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _parts))
