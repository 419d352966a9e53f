"""ReXVQA: four-option questions with reports, as one JSON object of records by question id."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any

import msgspec

from domain.errors import InvalidValue
from domain.expectations import COMPLETE
from domain.vocabulary import AnswerFormat, Difficulty, Task
from intake.formats.views import parse_view
from intake.strict_json import decode
from intake.texts import none_if_unknown, option_index, parse_list, split_option_letters
from records.decoding import make_decoder
from records.questions import ExamRecord, QuestionRecord, RadiographRecord

#: The tasks in the order in which they are tried. The first whose value occurs in ``task_name`` is used.
_TASKS = (Task.DIFFERENTIAL, Task.GEOMETRIC, Task.LOCATION, Task.NEGATION, Task.PRESENCE)
_SECTIONS = ("Comparison", "Findings", "Impression")
#: In ReXVQA's files a missing section of an exam is NaN, which is not valid JSON. NaN is refused elsewhere.
_NAN_SECTION = re.compile(rb'(?<!\\)("(?:Indication|Comparison|Findings|Impression)"\s*:\s*)NaN(?=\s*[,}])')


class _Record(msgspec.Struct, gc=False):
    question: str
    options: list[str] | str
    correct_answer: str
    ImagePath: list[str | None] | str
    StudyInstanceUid: str | None = None
    study_id: str | int | None = None
    correct_answer_explanation: str | None = None
    task_name: str | None = None
    category: str | None = None
    subcategory: str | None = None
    class_: str | None = msgspec.field(name="class", default=None)
    difficulty: str | None = None
    ImageViewPosition: list[str | None] | str | None = None
    PatientID: str | int | None = None
    PatientSex: str | None = None
    PatientAge: str | int | None = None
    Indication: str | None = None
    Comparison: str | None = None
    Findings: str | None = None
    Impression: str | None = None


_decoder = make_decoder(_Record)

#: Section 3.3 of the ReXVQA paper requires every field of a question.
EXPECTATIONS = COMPLETE


def looks_like(record: dict[str, Any]) -> bool:
    """Return whether a file with this first record is a ReXVQA file."""
    return {"question", "options", "correct_answer", "ImagePath"} <= record.keys()


class RexvqaReader:
    """Reads ReXVQA files. A record's key is its id, because study and task together are not unique."""

    def __init__(self, file_stem: str) -> None:
        """Create a reader. The file's name is not used."""

    def read(self, name: int | str, raw: bytes) -> QuestionRecord:
        if not isinstance(name, str):
            raise InvalidValue("id", "is missing: ReXVQA's ids are the keys of one JSON object")
        if b"NaN" in raw:
            raw = _NAN_SECTION.sub(rb"\1null", raw)
        record = decode(raw, _decoder)
        letters, options = split_option_letters(
            [option or "" for option in parse_list(record.options, "options")]
        )
        exam_id = none_if_unknown(record.StudyInstanceUid) or none_if_unknown(_to_text(record.study_id))
        if exam_id is None:
            raise InvalidValue("StudyInstanceUid", "is missing; give StudyInstanceUid or study_id")
        task = _parse_task(record.task_name)
        return QuestionRecord(
            id=name,
            exam=ExamRecord(
                id=exam_id,
                radiographs=_build_radiographs(record),
                patient=none_if_unknown(_to_text(record.PatientID)),
                indication=none_if_unknown(record.Indication),
                age=none_if_unknown(_to_text(record.PatientAge)),
                sex=none_if_unknown(record.PatientSex),
            ),
            format=AnswerFormat.SINGLE,
            stem=record.question.strip(),
            options=tuple(options),
            answer=(option_index(record.correct_answer, letters),),
            explanation=none_if_unknown(record.correct_answer_explanation),
            task=task,
            content_type=none_if_unknown(record.class_) if task else none_if_unknown(record.task_name),
            category=none_if_unknown(record.category),
            subcategory=none_if_unknown(record.subcategory),
            difficulty=_parse_difficulty(record.difficulty),
            report=_build_report(record),
        )


def _build_radiographs(record: _Record) -> list[RadiographRecord]:
    paths = parse_list(record.ImagePath, "ImagePath")
    if not paths or any(not path for path in paths):
        raise InvalidValue("ImagePath", "is empty; a question needs its images")
    views = parse_list(record.ImageViewPosition, "ImageViewPosition")
    if views and len(views) != len(paths):
        raise InvalidValue("ImageViewPosition", f"has {len(views)} entries for {len(paths)} images")
    views = views or [None] * len(paths)
    return [
        RadiographRecord(id=PurePosixPath(path).stem, file=path, view=parse_view(view).value)
        for path, view in zip(paths, views, strict=True)
        if path
    ]


def _parse_task(task_name: str | None) -> Task | None:
    name = (task_name or "").casefold()
    return next((task for task in _TASKS if task.value in name), None)


def _parse_difficulty(text: str | None) -> Difficulty | None:
    value = none_if_unknown(text)
    if value is None:
        return None
    if value.casefold() not in set(Difficulty):
        raise InvalidValue("difficulty", f"must be one of {', '.join(Difficulty)}, not {value!r}")
    return Difficulty(value.casefold())


def _build_report(record: _Record) -> str | None:
    sections = ((heading, none_if_unknown(getattr(record, heading))) for heading in _SECTIONS)
    return "\n\n".join(f"{heading}: {text}" for heading, text in sections if text) or None


def _to_text(value: str | int | None) -> str | None:
    return None if value is None else str(value)
