"""Reads ``overread.prediction/1``: a model's answers, one JSON object per line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from domain.boxes import Box, LabelledBox
from domain.errors import InvalidValue
from domain.problems import Refusal
from domain.questions import Answer, check_answer
from domain.readings import Prediction
from domain.vocabulary import AnswerFormat
from intake.containers import Container, QuestionFile
from intake.strictness import decode
from reader_study.extraction import GIVEN, Extraction, extract
from reader_study.reply_values import listed, value_of
from records.values import BoxRecord

#: The longest free text of one reply, in characters.
LONGEST_REPLY = 200_000
#: The most refusals that are kept.
MOST_REFUSALS = 1_000


class _Line(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    question_id: str
    model: str | None = None
    answer: str | list[int | str] | None = None
    raw: str | None = None
    explanation: str | None = None
    boxes: list[BoxRecord] = []
    seconds: float | None = None


_decoder = msgspec.json.Decoder(_Line)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionRecord:
    """One valid line; ``answer`` or ``raw`` is given, not yet checked against the question."""

    line: int
    question_id: str
    answer: str | tuple[int | str, ...] | None
    raw: str | None
    explanation: str
    boxes: tuple[LabelledBox, ...]
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """The properties of a question that are needed to read an answer."""

    number: int
    format: AnswerFormat
    options: tuple[str, ...]


class Refusals:
    """The refusals of one file: all are counted, the first ones are kept."""

    def __init__(self, *, file: str) -> None:
        self.count = 0
        self._file, self._kept = file, list[Refusal]()

    def add(self, line: str, field: str, reason: str) -> None:
        self.count += 1
        if len(self._kept) < MOST_REFUSALS:
            self._kept.append(Refusal(file=self._file, record=line, field=field, reason=reason))

    @property
    def sorted(self) -> tuple[Refusal, ...]:
        return tuple(sorted(self._kept, key=lambda each: int(each.record)))


def prediction_lines(path: Path, *, model: str | None) -> Iterator[tuple[PredictionRecord | Refusal, int]]:
    """Read a file of predictions.

    The second line of a question is refused.

    Args:
        path: the file.
        model: lines that name another model are refused; None accepts any, but only one in a file.

    Yields:
        For each line the record or the refusal, and the number of bytes read so far.
    """
    named = model
    seen: dict[str, int] = {}
    try:
        file = QuestionFile(path)
    except InvalidValue as error:
        yield Refusal(file=path.name, record="1", field=error.field, reason=error.reason), 0
        return
    for number, raw in file.records(Container.LINES):
        line = int(number)
        try:
            if isinstance(raw, InvalidValue):
                raise raw
            found = decode(raw, _decoder)
            named = named or found.model
            yield _record(line, found, named=named, seen=seen), file.bytes_read
        except InvalidValue as error:
            field = "" if error.field == "record" else error.field
            yield Refusal(file=path.name, record=str(line), field=field, reason=error.reason), file.bytes_read


def _record(line: int, found: _Line, *, named: str | None, seen: dict[str, int]) -> PredictionRecord:
    if not found.question_id:
        raise InvalidValue("question_id", "is empty")
    if found.question_id in seen:
        raise InvalidValue(
            "question_id", f"{found.question_id!r} stands on line {seen[found.question_id]} already"
        )
    seen[found.question_id] = line
    if found.model is not None and found.model != named:
        raise InvalidValue("model", f"{found.model!r} is not {named!r}; a file holds one model's predictions")
    if found.answer is None and found.raw is None:
        raise InvalidValue("answer", "is missing; a line has answer, or raw with the free text of the reply")
    if found.raw is not None and len(found.raw) > LONGEST_REPLY:
        raise InvalidValue("raw", f"has {len(found.raw):,} characters, at most {LONGEST_REPLY:,} are taken")
    if found.seconds is not None and not (math.isfinite(found.seconds) and 0 <= found.seconds <= 1e7):
        raise InvalidValue("seconds", f"{found.seconds} is no number of seconds")
    return PredictionRecord(
        line=line,
        question_id=found.question_id,
        answer=tuple(found.answer) if isinstance(found.answer, list) else found.answer,
        raw=found.raw,
        explanation=found.explanation or "",
        boxes=tuple(_box(at, each) for at, each in enumerate(found.boxes)),
        seconds=found.seconds,
    )


def answer_in(record: PredictionRecord, *, format_: AnswerFormat, options: tuple[str, ...]) -> Extraction:
    """The answer of a record: the given one, or the one extracted from the free text.

    Args:
        record: of the file.
        format_: of the question.
        options: of the question.

    Raises:
        InvalidValue: a given answer does not fit the question. Free text raises no error; extraction fails.
    """
    given: Any = record.answer
    if given is None:
        return extract(record.raw or "", format_=format_, options=options)
    answer: Answer | None
    if isinstance(given, str):
        answer = value_of(given, format_=format_, options=options)
    elif given and all(isinstance(each, str) for each in given):
        answer = listed(given, format_=format_, options=options)
    elif all(isinstance(each, int) for each in given):
        answer = tuple(sorted(set(given)))
    else:
        answer = None  # letters and indices in one list
    if answer is None:
        shown = f"one of {len(options)} letters or options" if options else "yes or no"
        raise InvalidValue(
            "answer", f"{_short(given)} is not {shown}; free text goes into raw, which is read by rules"
        )
    check_answer(answer, format_=format_, options=options, field_name="answer")
    return Extraction(answer=answer, rule=GIVEN)


def _box(at: int, found: BoxRecord) -> LabelledBox:
    x_min, y_min, x_max, y_max = found.box
    try:
        box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
    except InvalidValue as error:
        raise InvalidValue(f"boxes[{at}]", error.reason) from error
    return LabelledBox(radiograph=found.radiograph, label=found.label, box=box)


def _short(value: object) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 60 else text[:59] + "…"


def prediction_of_record(
    each: PredictionRecord, asked: AskedQuestion | None, before: frozenset[int], dataset: str, model: str
) -> Prediction:
    """The prediction of a record; its model's number is 0 until the model is stored.

    Args:
        each: the record.
        asked: its question; None if the dataset has none with that id.
        before: numbers of the questions that the model has answered.
        dataset: its name, for the text of an error.
        model: its name, likewise.

    Raises:
        InvalidValue: no such question, or it was answered before, or the answer does not fit it.
    """
    if asked is None:
        raise InvalidValue("question_id", f"{each.question_id!r} is no question of the dataset {dataset}")
    if asked.number in before:
        raise InvalidValue(
            "question_id",
            f"{model} has answered {each.question_id!r} before; another run is another model name",
        )
    found = answer_in(each, format_=asked.format, options=asked.options)
    return Prediction(
        model_id=0,
        question_number=asked.number,
        answer=found.answer,
        raw=each.raw,
        rule=found.rule,
        explanation=each.explanation,
        boxes=each.boxes,
        seconds=each.seconds,
    )
