"""The test files of GEMeX: JSON Lines, one file per type of question."""

from __future__ import annotations

from typing import Any

import msgspec

from domain.errors import InvalidValue
from domain.expectations import Expectations
from domain.questions import Answer
from domain.vocabulary import AnswerFormat
from intake.formats.gemex_common import (
    GRID,
    IdGenerator,
    detect_format,
    parse_boxes,
    parse_closed_answer,
    parse_exam,
    parse_option_indices,
)
from intake.strict_json import decode
from intake.texts import none_if_unknown, split_option_letters
from records.decoding import make_decoder
from records.questions import QuestionRecord


class _Record(msgspec.Struct, gc=False):
    question: str
    answer: list[str] | str
    image_path: str
    q_id: int | str
    type: str | None = None
    choices: list[str] | None = None
    reason: str | None = None
    visual_regions: list[str] | None = None
    visual_locations: list[list[float]] | None = None
    ori_report: str | None = None


_decoder = make_decoder(_Record)

#: GEMeX questions have no task, tier or category.
EXPECTATIONS = Expectations(fields=frozenset({"explanation", "boxes.label"}), option_count=4)


def looks_like(record: dict[str, Any]) -> bool:
    """Return whether a file with this first record is a test file of GEMeX."""
    return {"question", "answer", "q_id", "image_path"} <= record.keys()


class GemexTestReader:
    """Reads test files. The answer format depends on the record's type, the file name or the answer."""

    def __init__(self, file_stem: str) -> None:
        """``file_stem`` is the beginning of each id."""
        self._ids = IdGenerator(file_stem)
        self._file_format = detect_format(file_stem)

    def read(self, name: int | str, raw: bytes) -> QuestionRecord:  # noqa: ARG002 - the interface of all formats
        record = decode(raw, _decoder)
        key = self._ids.next_id(record.q_id)
        exam = parse_exam(record.image_path)
        type_format = detect_format(record.type or "")
        answer_format = type_format or self._file_format or _infer_format(record)
        letters, options = split_option_letters(record.choices or [])
        answer: Answer
        if answer_format.has_options:
            answer = parse_option_indices(record.answer, letters)
        elif not isinstance(record.answer, str):
            raise InvalidValue("answer", f"of a question without choices must be text, not {record.answer}")
        else:
            answer = (
                parse_closed_answer(record.answer)
                if answer_format is AnswerFormat.CLOSED
                else record.answer.strip()
            )
        locations = record.visual_locations or []
        return QuestionRecord(
            id=key,
            exam=exam,
            format=answer_format,
            stem=record.question.strip(),
            options=tuple(options),
            answer=answer,
            explanation=none_if_unknown(record.reason),
            boxes=parse_boxes(locations, record.visual_regions or [], exam.radiographs[0].id),
            box_grid=GRID,
            box_fit="letterbox",
            content_type=None if type_format else none_if_unknown(record.type),
            report=none_if_unknown(record.ori_report),
        )


def _infer_format(record: _Record) -> AnswerFormat:
    if record.choices:
        return AnswerFormat.SINGLE if isinstance(record.answer, str) else AnswerFormat.MULTIPLE
    normalised = record.answer.strip().rstrip(".").casefold() if isinstance(record.answer, str) else ""
    return AnswerFormat.CLOSED if normalised in ("yes", "no") else AnswerFormat.OPEN
