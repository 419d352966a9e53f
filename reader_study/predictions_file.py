"""Reads a model's answers: ``overread.prediction/1``, one JSON object per line, and files of other programs.

Files of harnesses are read by :mod:`reader_study.harness_files`. ReXrank's programs copy the records of their
input, such as ``rexvqa.json`` of a release, and add a field ``model_prediction`` (free text). Such a file is
one JSON object with the records by question id.
"""

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
from intake.strict_json import decode
from reader_study.extraction import GIVEN, Extraction, extract_answer
from reader_study.harness_files import read_harness_file, recognise_harness
from reader_study.reply_values import parse_answer, parse_answer_list
from records.decoding import make_decoder
from records.values import BoxRecord

#: The maximum length of the free text of one reply, in characters.
MAX_REPLY_LENGTH = 200_000
#: The maximum number of refusals that are kept.
MAX_REFUSALS = 1_000


class _Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    question_id: str
    model: str | None = None
    answer: str | list[int | str] | None = None
    raw: str | None = None
    explanation: str | None = None
    boxes: list[BoxRecord] = []
    seconds: float | None = None
    probability: float | None = None


class _RexrankRecord(msgspec.Struct, gc=False):
    model_prediction: str


_decoder = make_decoder(_Line)
_rexrank_decoder = make_decoder(_RexrankRecord)
_REXRANK_FIELD = b'"model_prediction"'


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionRecord:
    """One valid line, with ``answer`` or ``raw``. The answer is not yet checked against the question."""

    line: int
    question_id: str
    answer: str | tuple[int | str, ...] | None
    raw: str | None
    explanation: str
    boxes: tuple[LabelledBox, ...]
    seconds: float | None
    probability: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFormat:
    """The properties of a question that are needed to read an answer."""

    number: int
    format: AnswerFormat
    options: tuple[str, ...]


class Refusals:
    """The refusals of one file. All are counted; the first :data:`MAX_REFUSALS` are kept."""

    def __init__(self, *, file: str) -> None:
        self.count = 0
        self._file, self._refusals = file, list[Refusal]()

    def add(self, line: str, field: str, reason: str) -> None:
        self.count += 1
        if len(self._refusals) < MAX_REFUSALS:
            self._refusals.append(Refusal(file=self._file, record=line, field=field, reason=reason))

    @property
    def sorted_by_line(self) -> tuple[Refusal, ...]:
        return tuple(sorted(self._refusals, key=lambda refusal: int(refusal.record)))


def read_predictions(path: Path, *, model: str | None) -> Iterator[tuple[PredictionRecord | Refusal, int]]:
    """Read a file of predictions. A second line for the same question is refused.

    Args:
        path: the path of the file.
        model: the name of the model; lines with another name are refused. None accepts any name, but only one
            per file.

    Yields:
        The record or the refusal of each line, and the number of bytes read so far. In files of other
        programs, records are counted instead of lines.
    """
    model_name = model
    first_lines: dict[str, int] = {}
    for line, parsed, bytes_read in _read_lines(path):
        try:
            if isinstance(parsed, InvalidValue):
                raise parsed
            model_name = model_name or parsed.model
            yield _build_record(line, parsed, model_name=model_name, first_lines=first_lines), bytes_read
        except InvalidValue as error:
            field = "" if error.field == "record" else error.field
            yield Refusal(file=path.name, record=str(line), field=field, reason=error.reason), bytes_read


def _read_lines(path: Path) -> Iterator[tuple[int, _Line | InvalidValue, int]]:
    """Yield the number of each record, its fields or the error, and the number of bytes read."""
    harness = recognise_harness(path) if path.is_file() else None
    if harness is not None:
        for number, answer, bytes_read in read_harness_file(path, harness):
            if isinstance(answer, InvalidValue):
                yield number, answer, bytes_read
            else:
                yield number, _Line(question_id=answer[0], raw=answer[1]), bytes_read
        return
    try:
        file = QuestionFile(path)
    except InvalidValue as error:
        yield 1, error, 0
        return
    container = _detect_container(file)
    for number, (name, raw) in enumerate(file.read_records(container), start=1):
        line = name if isinstance(name, int) else number
        try:
            if isinstance(raw, InvalidValue):
                raise raw
            parsed = (
                _Line(question_id=str(name), raw=decode(raw, _rexrank_decoder).model_prediction)
                if container is Container.OBJECT
                else decode(raw, _decoder, has_all_fields=True)
            )
            yield line, parsed, file.bytes_read
        except InvalidValue as error:
            yield line, error, file.bytes_read


def _detect_container(file: QuestionFile) -> Container:
    is_rexrank = file.head[:1] == b"{" and _REXRANK_FIELD in file.head
    return file.detect_container() if is_rexrank else Container.LINES


def _build_record(
    line: int, parsed_line: _Line, *, model_name: str | None, first_lines: dict[str, int]
) -> PredictionRecord:
    if not parsed_line.question_id:
        raise InvalidValue("question_id", "is empty")
    if parsed_line.question_id in first_lines:
        raise InvalidValue(
            "question_id",
            f"{parsed_line.question_id!r} is a duplicate of line {first_lines[parsed_line.question_id]}",
        )
    first_lines[parsed_line.question_id] = line
    if parsed_line.model is not None and parsed_line.model != model_name:
        raise InvalidValue(
            "model",
            f"{parsed_line.model!r} is not {model_name!r}; a file contains the predictions of one model",
        )
    if parsed_line.answer is None and parsed_line.raw is None:
        raise InvalidValue(
            "answer", "is missing; each line must have answer, or raw with the free text of the reply"
        )
    if parsed_line.raw is not None and len(parsed_line.raw) > MAX_REPLY_LENGTH:
        raise InvalidValue(
            "raw", f"has {len(parsed_line.raw):,} characters; the maximum is {MAX_REPLY_LENGTH:,}"
        )
    if parsed_line.seconds is not None and not (
        math.isfinite(parsed_line.seconds) and 0 <= parsed_line.seconds <= 1e7
    ):
        raise InvalidValue("seconds", f"{parsed_line.seconds} is not a valid number of seconds")
    if parsed_line.probability is not None and not 0 <= parsed_line.probability <= 1:
        raise InvalidValue(
            "probability",
            f"{parsed_line.probability:g} must be 0 to 1, the stated probability that the answer is correct. "
            "Divide per cent by 100; leave the field out if the model states none",
        )
    return PredictionRecord(
        line=line,
        question_id=parsed_line.question_id,
        answer=tuple(parsed_line.answer) if isinstance(parsed_line.answer, list) else parsed_line.answer,
        raw=parsed_line.raw,
        explanation=parsed_line.explanation or "",
        boxes=tuple(_build_box(index, box_record) for index, box_record in enumerate(parsed_line.boxes)),
        seconds=parsed_line.seconds,
        probability=parsed_line.probability,
    )


def resolve_answer(
    record: PredictionRecord, *, format_: AnswerFormat, options: tuple[str, ...]
) -> Extraction:
    """Return the answer of a record: its ``answer``, or the answer extracted from its free text.

    Args:
        record: a record of the file.
        format_: the answer format of the question.
        options: the options of the question.

    Raises:
        InvalidValue: the field ``answer`` does not fit the question. Free text without an answer is no error;
            its extraction fails.
    """
    stated_answer: Any = record.answer
    if stated_answer is None:
        return extract_answer(record.raw or "", format_=format_, options=options)
    answer: Answer | None
    if isinstance(stated_answer, str):
        answer = parse_answer(stated_answer, format_=format_, options=options)
    elif stated_answer and all(isinstance(part, str) for part in stated_answer):
        answer = parse_answer_list(stated_answer, format_=format_, options=options)
    elif all(isinstance(part, int) for part in stated_answer):
        answer = tuple(sorted(set(stated_answer)))
    else:
        answer = None  # the list mixes letters and indices
    if answer is None:
        expected = f"one of {len(options)} letters or options" if options else "yes or no"
        raise InvalidValue(
            "answer",
            f"{_shorten(stated_answer)} must be {expected}; write free text to the field raw, from which the "
            "answer is extracted",
        )
    check_answer(answer, format_=format_, options=options, field_name="answer")
    return Extraction(answer=answer, rule=GIVEN)


def _build_box(index: int, box_record: BoxRecord) -> LabelledBox:
    x_min, y_min, x_max, y_max = box_record.box
    try:
        box = Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)
    except InvalidValue as error:
        raise InvalidValue(f"boxes[{index}]", error.reason) from error
    return LabelledBox(radiograph=box_record.radiograph, label=box_record.label, box=box)


def _shorten(value: object) -> str:
    text = repr(list(value) if isinstance(value, tuple) else value)
    return text if len(text) <= 60 else text[:59] + "…"


def build_prediction(
    record: PredictionRecord,
    question: QuestionFormat | None,
    answered_questions: frozenset[int],
    dataset: str,
    model: str,
) -> Prediction:
    """Build the prediction of a record; its ``model_id`` is 0 until the model is stored.

    Args:
        record: a record of the file.
        question: the question of the record; None if the dataset has no question with this id.
        answered_questions: the database ids of the questions that the model has already answered.
        dataset: the name of the dataset, used in error messages.
        model: the name of the model, used in error messages.

    Raises:
        InvalidValue: the question does not exist, was answered before, or the answer does not fit it.
    """
    if question is None:
        raise InvalidValue(
            "question_id", f"{record.question_id!r} is not a question of the dataset {dataset}"
        )
    if question.number in answered_questions:
        raise InvalidValue(
            "question_id",
            f"{model} has already answered {record.question_id!r}; use another model name for another run",
        )
    extraction = resolve_answer(record, format_=question.format, options=question.options)
    return Prediction(
        model_id=0,
        question_row_id=question.number,
        answer=extraction.answer,
        raw=record.raw,
        rule=extraction.rule,
        explanation=record.explanation,
        boxes=record.boxes,
        seconds=record.seconds,
        probability=record.probability,
    )
