"""Reads ``overread.reading/1``, readings of outside readers as CSV or JSON Lines, and checks them."""

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
from domain.questions import Answer, letter
from domain.readings import Reading, ReadingKey
from domain.studies import BlindCase, Reader, ReaderStudy
from domain.table_cells import as_written

REQUIRED = ("study", "reader", "question_id", "answer", "seconds", "read_at")
OPTIONAL = ("confidence",)
#: The spelling of "cannot determine".
CANNOT = "?"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRecord:
    """One valid record; its answer is not yet checked against the question."""

    line: int
    study: str
    reader: str
    question_id: str
    answer: str
    confidence: int | None
    seconds: float
    read_at: datetime


class NotAnAnswer(ValueError):
    """An answer that does not fit the question; the text gives the reason."""


def read_records(content: bytes, *, file: str) -> tuple[list[ReadingRecord], list[Refusal]]:
    """Read a file of readings.

    Args:
        content: the file.
        file: its name, for refusals.

    Returns:
        The valid records, and the refusals of others by line (from 1, including the header). Times without a
        time zone are refused.
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
    for line, fields, trouble in _lines(text):
        if trouble:
            refusals.append(Refusal(file=file, record=str(line), field=trouble[0], reason=trouble[1]))
            continue
        try:
            records.append(_record(line, fields))
        except _Bad as bad:
            refusals.append(Refusal(file=file, record=str(line), field=bad.field, reason=bad.reason))
    return records, refusals


def answer_of(text: str, *, case: BlindCase) -> Answer | None:
    """Convert the text of an answer.

    Options are given by letter ("B", "A|C" in any order) or by their exact text, closed answers by yes or no;
    free text is taken as it is.

    Args:
        text: of the record.
        case: that it answers.

    Returns:
        The answer, in the question's own order of options; None for "cannot determine".

    Raises:
        NotAnAnswer: the text does not fit the question.
    """
    text = text.strip()
    if text == CANNOT:
        return None
    if not text:
        raise NotAnAnswer('is empty; leave the record out where nothing was answered, or write "?"')
    if case.format.is_free_text:
        return text
    if case.format.words:
        if text.lower() not in case.format.words:
            raise NotAnAnswer(f"{text!r} is neither {' nor '.join(case.format.words)}")
        return text.lower()
    if text in case.options:
        return (case.options.index(text),)
    letters = [letter(index) for index in range(len(case.options))]
    ticked = [part.strip() for part in text.split("|")]
    for each in ticked:
        if each.upper() not in letters and each not in case.options:
            raise NotAnAnswer(
                f"{each!r} is neither one of {letters[0]} to {letters[-1]} nor an option's text"
            )
    found = sorted(
        {case.options.index(each) if each in case.options else letters.index(each.upper()) for each in ticked}
    )
    if not case.format.takes_several and len(found) > 1:
        raise NotAnAnswer(f"{text!r} names several options of a single-choice question")
    return tuple(found)


class _Bad(Exception):
    """A problem of one field; used in this module only."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


def _lines(text: str) -> Iterator[tuple[int, dict[str, str], tuple[str, str] | None]]:
    """(line, fields by name, problem of the line as a whole) of each record."""
    if text.lstrip().startswith("{"):
        yield from _json_lines(text)
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for row in reader:
            if not row:
                continue
            if header is None:
                header = [name.strip() for name in row]
                trouble = _header_trouble(header)
                if trouble:
                    yield 1, {}, trouble
                    return
                continue
            if len(row) != len(header):
                yield reader.line_num, {}, ("", f"has {len(row)} cells, the header has {len(header)}")
                continue
            yield reader.line_num, dict(zip(header, map(as_written, row), strict=True)), None
    except csv.Error as error:
        yield reader.line_num, {}, ("", f"is no CSV: {error}")
    if header is None:
        yield 1, {}, ("", f"the file is empty; its header names {', '.join(REQUIRED)}")


def _json_lines(text: str) -> Iterator[tuple[int, dict[str, str], tuple[str, str] | None]]:
    for line, content in enumerate(text.splitlines(), start=1):
        if not content.strip():
            continue
        try:
            plain = json.loads(content)
        except (ValueError, RecursionError) as error:
            yield line, {}, ("", f"is no JSON: {error}")
            continue
        if not isinstance(plain, dict):
            yield line, {}, ("", "is no JSON object")
            continue
        trouble = _header_trouble(list(plain))
        if trouble:
            yield line, {}, trouble
            continue
        yield line, {name: "" if value is None else str(value) for name, value in plain.items()}, None


def _header_trouble(names: list[str]) -> tuple[str, str] | None:
    for name in REQUIRED:
        if name not in names:
            return name, f"is missing; a record has {', '.join(REQUIRED)} and may have {', '.join(OPTIONAL)}"
    for name in names:
        if name not in REQUIRED + OPTIONAL:
            return name, "is no field of overread.reading/1"
    if len(set(names)) != len(names):
        return names[0], "a field is named twice"
    return None


def _record(line: int, fields: dict[str, str]) -> ReadingRecord:
    for name in ("study", "reader", "question_id"):
        if not fields[name].strip():
            raise _Bad(name, "is empty")
    if len(fields["reader"]) > 64 or not fields["reader"].isprintable():
        raise _Bad("reader", "must be 1 to 64 printable characters")
    return ReadingRecord(
        line=line,
        study=fields["study"].strip(),
        reader=fields["reader"].strip(),
        question_id=fields["question_id"].strip(),
        answer=fields["answer"],
        confidence=_confidence(fields.get("confidence", "")),
        seconds=_seconds(fields["seconds"]),
        read_at=_moment(fields["read_at"]),
    )


def _confidence(text: str) -> int | None:
    if not text.strip():
        return None
    if text.strip() not in {"1", "2", "3", "4", "5"}:
        raise _Bad("confidence", f"{text!r} is none of 1 to 5")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise _Bad("seconds", f"{text!r} is no number") from None
    if not (math.isfinite(seconds) and 0 <= seconds <= 10_000_000):
        raise _Bad("seconds", f"{text!r} is no number of seconds")
    return seconds


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise _Bad("read_at", f"{text!r} is no time as ISO 8601 has it: 2026-03-02T09:00:00Z") from None
    if moment.tzinfo is None:
        raise _Bad("read_at", f"{text!r} has no zone; write Z for UTC")
    return moment.astimezone(UTC)


def reading_of_record(
    each: ReadingRecord, *, key: ReadingKey, answer: object, place: int, version: int
) -> Reading:
    """The reading of a record.

    Args:
        each: the record.
        key: of the reading.
        answer: of :func:`check_records`.
        place: in the reader's order, from 1.
        version: of the protocol.
    """
    return Reading(
        key=key,
        revision=1,
        position=place,
        protocol_version=version,
        answer=answer,  # type: ignore[arg-type]  # answer_of gave it
        cannot_determine=answer is None,
        confidence=each.confidence,
        seconds=each.seconds,
        seconds_looking=each.seconds,
        seconds_away=0.0,
        began_at=each.read_at - timedelta(seconds=each.seconds),
        read_at=each.read_at,
        outside=True,
    )


def check_records(
    records: list[ReadingRecord],
    *,
    study: ReaderStudy,
    file: str,
    cases: dict[str, BlindCase],
    readers: dict[str, Reader],
    known: Counter[tuple[int, int]],
) -> tuple[list[Refusal], dict[int, object]]:
    """Check records against the study that they are for.

    Args:
        records: of the file.
        study: that the file is imported into.
        file: its name, for refusals.
        cases: of the study, by the question's id.
        readers: of the study, by name.
        known: the number of stored readings, by (reader, case).

    Returns:
        The refusals, and the answers of the accepted records by line.
    """
    faults: list[Refusal] = []
    answers: dict[int, object] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for each in records:
        case, reader = cases.get(each.question_id), readers.get(each.reader)
        seen[each.reader, each.question_id] += 1
        before = known[reader.id, case.id] if reader and case else 0
        fault: tuple[str, str] | None = None
        if each.study != study.name:
            fault = ("study", f"{each.study!r} is not {study.name!r}")
        elif case is None:
            fault = ("question_id", f"{each.question_id!r} is no case of the study {study.name}")
        elif reader is not None and not reader.outside:
            fault = ("reader", f"{each.reader} reads on the screen; a file can't answer in their name")
        elif seen[each.reader, each.question_id] + before > 2:
            fault = ("question_id", f"{each.reader} has answered {each.question_id!r} twice already")
        else:
            try:
                answers[each.line] = answer_of(each.answer, case=case)
            except NotAnAnswer as error:
                fault = ("answer", str(error))
        if fault:
            faults.append(Refusal(file=file, record=str(each.line), field=fault[0], reason=fault[1]))
    return faults, answers
