"""The training files of GEMeX: conversations whose second turn has answer, reason and location."""

from __future__ import annotations

import re
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
from intake.texts import none_if_unknown
from records.decoding import make_decoder
from records.questions import QuestionRecord


class _Turn(msgspec.Struct, gc=False):
    from_: str = msgspec.field(name="from")
    value: str


class _Record(msgspec.Struct, gc=False):
    conversations: list[_Turn]
    row_id: int | str
    q_type: str
    image: str
    type_prompt: str = ""


_record_decoder = make_decoder(_Record)
_locations_decoder = make_decoder(list[list[float]])
# "<answer> ['A', 'C'] <reason> …" in the files, "<answer>[A, C] <reason>…" in the paper.
_ANSWER_TURN = re.compile(
    r"\s*<answer>\s*(?P<answer>.*?)\s*<reason>\s*(?P<reason>.*?)\s*(?:<location>\s*(?P<location>.*?)\s*)?",
    re.DOTALL,
)
_CHOICE = re.compile(r"""(?:^|,)\s*['"]?([A-Z])\s*[:.)]\s*""")

#: GEMeX training questions have no task, tier or category, and their boxes have no labels.
EXPECTATIONS = Expectations(fields=frozenset({"explanation"}), option_count=4)


def looks_like(record: dict[str, Any]) -> bool:
    """Return whether a file with this first record is a training file of GEMeX."""
    return {"conversations", "q_type"} <= record.keys()


class GemexTrainReader:
    """Reads training files. Ids are created from the file's stem and ``row_id``; boxes have no labels."""

    def __init__(self, file_stem: str) -> None:
        """``file_stem`` is the beginning of each id."""
        self._ids = IdGenerator(file_stem)

    def read(self, name: int | str, raw: bytes) -> QuestionRecord:  # noqa: ARG002 - the interface of all formats
        record = decode(raw, _record_decoder)
        key = self._ids.next_id(record.row_id)
        answer_format = detect_format(record.q_type)
        if answer_format is None:
            raise InvalidValue("q_type", f"{record.q_type!r} is not a known question type")
        human_turn, answer_turn = _split_turns(record)
        parts = _ANSWER_TURN.fullmatch(answer_turn)
        if parts is None:
            raise InvalidValue(
                "conversations", "the answer does not have the form <answer> … <reason> … <location> …"
            )
        stem, options = _split_question(human_turn, record.type_prompt)
        exam = parse_exam(record.image)
        letters = [chr(ord("A") + index) for index in range(len(options))]
        answer: Answer = parts["answer"]
        if answer_format.has_options:
            answer = parse_option_indices(
                parts["answer"].strip("[]'\" ") if "," not in parts["answer"] else parts["answer"],
                letters,
            )
        elif answer_format is AnswerFormat.CLOSED:
            answer = parse_closed_answer(parts["answer"])
        return QuestionRecord(
            id=key,
            exam=exam,
            format=answer_format,
            stem=stem,
            options=tuple(options),
            answer=answer,
            explanation=none_if_unknown(parts["reason"]),
            boxes=parse_boxes(_parse_locations(parts["location"]), None, exam.radiographs[0].id),
            box_grid=GRID,
            box_fit="letterbox",
        )


def _split_turns(record: _Record) -> tuple[str, str]:
    speakers = [turn.from_ for turn in record.conversations]
    if speakers != ["human", "gpt"]:
        raise InvalidValue(
            "conversations", f"must be a turn from 'human' followed by a turn from 'gpt', not {speakers}"
        )
    return record.conversations[0].value, record.conversations[1].value


def _split_question(human_turn: str, type_prompt: str) -> tuple[str, list[str]]:
    """Return (stem, options) of the human turn, without the image placeholder and the prompt for the type."""
    text = human_turn.replace("<image>", "").strip()
    if type_prompt:
        text = text.removeprefix(type_prompt.strip()).strip()
    stem, marker, choices = text.partition("<choices>:")
    if not marker:
        return stem.strip(), []
    choices = choices.strip().removeprefix("[").removesuffix("]")
    starts: list[re.Match[str]] = []
    for match in _CHOICE.finditer(choices):
        # Only the next letter in order begins an option, because an option may contain a comma or "B:".
        if match[1] == chr(ord("A") + len(starts)):
            starts.append(match)
    ends = [match.start() for match in starts[1:]] + [len(choices)]
    options = [
        choices[match.end() : end].strip().strip("'\"").strip()
        for match, end in zip(starts, ends, strict=True)
    ]
    return stem.strip(), options


def _parse_locations(location: str | None) -> list[list[float]]:
    if not none_if_unknown(location):
        return []
    try:
        return _locations_decoder.decode(location or "")
    except (msgspec.MsgspecError, RecursionError):
        raise InvalidValue(
            "location", (f"is not a list of x1, y1, x2, y2: {(location or '')[:60]!r}")
        ) from None
