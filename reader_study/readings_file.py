"""Reads and checks ``overread.reading/1``: readings of external readers, as CSV or JSON Lines."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from domain.problems import Refusal
from domain.questions import Answer, option_letter
from domain.readings import Reading, ReadingKey
from domain.studies import BlindCase, Reader, ReaderStudy
from domain.table_cells import unescape_formula
from domain.vocabulary import CONFIDENCE_VALUES

REQUIRED_FIELDS = ("study", "reader", "question_id", "answer", "seconds", "read_at")
OPTIONAL_FIELDS = ("confidence",)
#: The answer text that means "cannot determine".
CANNOT_DETERMINE = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRecord:
    """One valid record. Its answer is not yet checked against the question."""

    line: int
    study: str
    reader: str
    question_id: str
    answer: str
    confidence: int | None
    seconds: float
    read_at: datetime


class AnswerMismatch(ValueError):
    """An answer does not fit the question; the message gives the reason."""


def read_records(content: bytes, *, file: str) -> tuple[list[ReadingRecord], list[Refusal]]:
    """Read a file of readings.

    Args:
        content: the content of the file.
        file: the file name, used in refusals.

    Returns:
        The valid records, and the refusals of the other records. Lines are counted from 1, including the
        header. Times without a time zone are refused.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return [], [
            Refusal(
                file=file, record="1", field="", reason=f"is not UTF-8 ({error.reason}); save it as UTF-8"
            )
        ]
    records: list[ReadingRecord] = []
    refusals: list[Refusal] = []
    for line, fields, problem in _read_lines(text):
        if problem:
            refusals.append(Refusal(file=file, record=str(line), field=problem[0], reason=problem[1]))
            continue
        try:
            records.append(_build_record(line, fields))
        except _InvalidField as invalid:
            refusals.append(Refusal(file=file, record=str(line), field=invalid.field, reason=invalid.reason))
    return records, refusals


def parse_reading_answer(text: str, *, case: BlindCase) -> Answer | None:
    """Convert the text of an answer.

    An option is given by its letter or its exact text, several options are separated by "|" in any order. A
    closed question is answered by yes or no. Free text is not changed.

    Args:
        text: the answer of the record.
        case: the answered case.

    Returns:
        The answer, in the question's own order of options; None for "cannot determine".

    Raises:
        AnswerMismatch: the text does not fit the question.
    """
    text = text.strip()
    if text == CANNOT_DETERMINE:
        return None
    if not text:
        raise AnswerMismatch(
            'is empty; write "?" for “cannot determine”, or omit the record if there was no answer'
        )
    if case.format.is_free_text:
        return text
    if case.format.fixed_answers:
        if text.lower() not in case.format.fixed_answers:
            raise AnswerMismatch(f"{text!r} is not one of: {', '.join(case.format.fixed_answers)}")
        return text.lower()
    if text in case.options:
        return (case.options.index(text),)
    letters = [option_letter(index) for index in range(len(case.options))]
    parts = [part.strip() for part in text.split("|")]
    for part in parts:
        if part.upper() not in letters and part not in case.options:
            raise AnswerMismatch(
                f"{part!r} is not a letter from {letters[0]} to {letters[-1]} or the text of an option"
            )
    indices = sorted(
        {case.options.index(part) if part in case.options else letters.index(part.upper()) for part in parts}
    )
    if not case.format.allows_multiple and len(indices) > 1:
        raise AnswerMismatch(f"{text!r} selects several options of a single-choice question")
    return tuple(indices)


class _InvalidField(Exception):
    """A field of a record is not valid. The exception is used in this module only."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


def _read_lines(text: str) -> Iterator[tuple[int, dict[str, str], tuple[str, str] | None]]:
    """Yield each record as (line, fields by name, problem); a problem is (field, reason) or None."""
    if text.lstrip().startswith("{"):
        yield from _read_json_lines(text)
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for row in reader:
            if not row:
                continue
            if header is None:
                header = [name.strip() for name in row]
                problem = _find_field_name_problem(header)
                if problem:
                    yield 1, {}, problem
                    return
                continue
            if len(row) != len(header):
                yield reader.line_num, {}, ("", f"has {len(row)} cells, but the header has {len(header)}")
                continue
            yield reader.line_num, dict(zip(header, map(unescape_formula, row), strict=True)), None
    except csv.Error as error:
        yield reader.line_num, {}, ("", f"is not valid CSV: {error}")
    if header is None:
        yield 1, {}, ("", f"the file is empty; required columns: {', '.join(REQUIRED_FIELDS)}")


def _read_json_lines(text: str) -> Iterator[tuple[int, dict[str, str], tuple[str, str] | None]]:
    for line, content in enumerate(text.splitlines(), start=1):
        if not content.strip():
            continue
        try:
            plain = json.loads(content)
        except (ValueError, RecursionError) as error:
            yield line, {}, ("", f"is not valid JSON: {error}")
            continue
        if not isinstance(plain, dict):
            yield line, {}, ("", "is not a JSON object")
            continue
        problem = _find_field_name_problem(list(plain))
        if problem:
            yield line, {}, problem
            continue
        yield line, {name: "" if value is None else str(value) for name, value in plain.items()}, None


def _find_field_name_problem(names: list[str]) -> tuple[str, str] | None:
    for name in REQUIRED_FIELDS:
        if name not in names:
            return (
                name,
                (
                    f"is missing; required: {', '.join(REQUIRED_FIELDS)}; optional: "
                    f"{', '.join(OPTIONAL_FIELDS)}"
                ),
            )
    for name in names:
        if name not in REQUIRED_FIELDS + OPTIONAL_FIELDS:
            return name, "is not a field of overread.reading/1"
    for position, name in enumerate(names):
        if name in names[:position]:
            return name, "appears twice in the header"
    return None


def _build_record(line: int, fields: dict[str, str]) -> ReadingRecord:
    for name in ("study", "reader", "question_id"):
        if not fields[name].strip():
            raise _InvalidField(name, "is empty")
    if len(fields["reader"]) > 64 or not fields["reader"].isprintable():
        raise _InvalidField("reader", "must be 1 to 64 printable characters")
    return ReadingRecord(
        line=line,
        study=fields["study"].strip(),
        reader=fields["reader"].strip(),
        question_id=fields["question_id"].strip(),
        answer=fields["answer"],
        confidence=_parse_confidence(fields.get("confidence", "")),
        seconds=_parse_seconds(fields["seconds"]),
        read_at=_parse_timestamp(fields["read_at"]),
    )


def _parse_confidence(text: str) -> int | None:
    if not text.strip():
        return None
    if text.strip() not in map(str, CONFIDENCE_VALUES):
        raise _InvalidField(
            "confidence",
            f"{text!r} is not a whole number from {CONFIDENCE_VALUES[0]} to {CONFIDENCE_VALUES[-1]}",
        )
    return int(text)


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise _InvalidField("seconds", f"{text!r} is not a number") from None
    if not (math.isfinite(seconds) and 0 <= seconds <= 10_000_000):
        raise _InvalidField("seconds", f"{text!r} is not a valid number of seconds")
    return seconds


def _parse_timestamp(text: str) -> datetime:
    try:
        timestamp = datetime.fromisoformat(text.strip())
    except ValueError:
        raise _InvalidField(
            "read_at", f"{text!r} is not an ISO 8601 time such as 2026-03-02T09:00:00Z"
        ) from None
    if timestamp.tzinfo is None:
        raise _InvalidField("read_at", f"{text!r} has no time zone; append Z for UTC")
    return timestamp.astimezone(UTC)


def build_outside_reading(
    record: ReadingRecord, *, key: ReadingKey, answer: object, position: int, version: int
) -> Reading:
    """Build the reading of a record.

    Args:
        record: a record of the file.
        key: the key of the reading.
        answer: the answer that :func:`check_records` returned.
        position: the position in the reader's order, from 1.
        version: the version of the protocol.
    """
    return Reading(
        key=key,
        revision=1,
        position=position,
        protocol_version=version,
        answer=answer,  # type: ignore[arg-type]  # check_records returned an Answer or None
        cannot_determine=answer is None,
        confidence=record.confidence,
        seconds=record.seconds,
        seconds_looking=record.seconds,
        seconds_away=0.0,
        began_at=record.read_at - timedelta(seconds=record.seconds),
        read_at=record.read_at,
        is_external=True,
    )


def check_records(
    records: list[ReadingRecord],
    *,
    study: ReaderStudy,
    file: str,
    cases: dict[str, BlindCase],
    readers: dict[str, Reader],
    stored_counts: Counter[tuple[int, int]],
) -> tuple[list[Refusal], dict[int, object]]:
    """Check the records of a file against the study of the import.

    Args:
        records: the records of the file.
        study: the study.
        file: the file name, used in refusals.
        cases: the cases of the study, by the id of the question.
        readers: the readers of the study, by name.
        stored_counts: the number of stored readings, by (reader id, case id).

    Returns:
        The refusals, and the answers of the accepted records by line.
    """
    refusals: list[Refusal] = []
    answers: dict[int, object] = {}
    record_counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        case, reader = cases.get(record.question_id), readers.get(record.reader)
        record_counts[record.reader, record.question_id] += 1
        n_stored = stored_counts[reader.id, case.id] if reader and case else 0
        problem: tuple[str, str] | None = None
        if record.study != study.name:
            problem = ("study", f"{record.study!r} is not {study.name!r}")
        elif case is None:
            problem = ("question_id", f"{record.question_id!r} is not a case of the study {study.name}")
        elif reader is not None and not reader.is_external:
            problem = (
                "reader",
                f"{record.reader} reads in the app; readings of this reader cannot be imported",
            )
        elif record_counts[record.reader, record.question_id] + n_stored > 2:
            problem = ("question_id", f"{record.reader} has already answered {record.question_id!r} twice")
        else:
            try:
                answers[record.line] = parse_reading_answer(record.answer, case=case)
            except AnswerMismatch as error:
                problem = ("answer", str(error))
        if problem:
            refusals.append(Refusal(file=file, record=str(record.line), field=problem[0], reason=problem[1]))
    return refusals, answers
