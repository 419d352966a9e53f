"""Parses an untrusted file of readings in a separate process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from domain.problems import Refusal
from intake.guarded_process import parse_in_process, send_all
from reader_study.readings_file import ReadingRecord, read_records


def read_readings_in_process(path: Path, *, file: str) -> tuple[list[ReadingRecord], list[Refusal]]:
    """Run :func:`reader_study.readings_file.read_records` in a separate process.

    Args:
        path: the path of the file.
        file: the user's name of the file, used in refusals.

    Raises:
        Refused: the process failed or exceeded its limits.
        OSError: the file cannot be opened.
    """
    with path.open("rb"):  # raises OSError in the caller's process if the file cannot be opened
        pass
    records: list[ReadingRecord] = []
    refusals: list[Refusal] = []
    for accepted, refused in parse_in_process("reader_study.readings_process", path, {}):
        records += [_to_record(plain) for plain in accepted]
        refusals += [
            Refusal(file=file, record=line, field=field, reason=reason) for line, field, reason in refused
        ]
    return records, refusals


def _to_record(plain: tuple[Any, ...]) -> ReadingRecord:
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


def _iterate_parts(arguments: dict[str, Any]) -> Iterator[Any]:
    path = Path(arguments["path"])
    records, refusals = read_records(path.read_bytes(), file=path.name)
    yield (
        [
            (
                record.line,
                record.study,
                record.reader,
                record.question_id,
                record.answer,
                record.confidence,
                record.seconds,
                record.read_at.isoformat(),
            )
            for record in records
        ],
        [(refusal.record, refusal.field, refusal.reason) for refusal in refusals],
    )


if __name__ == "__main__":
    sys.exit(send_all(sys.argv[1:], _iterate_parts))
