"""``overread.question/1``: the record of a question, and the question of a record."""

from __future__ import annotations

from typing import Any

import msgspec

from domain.boxes import Box, LabelledBox
from domain.exams import Exam
from domain.questions import Answer, Question, Source
from domain.vocabulary import AnswerFormat, Difficulty, Task, View

#: Fields of a question that a correction may change, with what stands for them where a record has none.
CORRECTABLE: dict[str, Any] = {
    "stem": None,
    "options": [],
    "answer": None,
    "explanation": "",
    "task": None,
    "category": None,
    "difficulty": None,
    "boxes": [],
    "also_right": [],
}


class BoxRecord(msgspec.Struct, gc=False):
    """A box as the format has it: ``box`` is [x_min, y_min, x_max, y_max]."""

    radiograph: str
    label: str
    box: tuple[float, float, float, float]


class Record(msgspec.Struct, omit_defaults=True, gc=False):
    """A question's record in the order of the format's fields; what is None is left out of the JSON.

    ``exam`` is the exam's own part, as JSON where :func:`exam_record` has made it for another question.
    """

    id: str
    exam: dict[str, Any] | msgspec.Raw
    format: AnswerFormat
    stem: str
    options: tuple[str, ...] | None = None
    answer: Answer | None = None
    also_right: tuple[tuple[int, ...], ...] | None = None
    explanation: str | None = None
    boxes: list[BoxRecord] | None = None
    task: Task | None = None
    content_type: str | None = None
    category: str | None = None
    subcategory: str | None = None
    difficulty: Difficulty | None = None
    report: str | None = None
    source: dict[str, str] | None = None

    def as_plain(self) -> dict[str, Any]:
        """The fields that are there, of plain values."""
        return msgspec.to_builtins(self)


def record_of(
    question: Question,
    exam: Exam,
    *,
    files: dict[str, str],
    with_report: bool,
    exam_as: msgspec.Raw | None = None,
) -> Record:
    """The question's record; what is not known or empty is left out.

    Args:
        question: as released.
        exam: of the question.
        files: where a radiograph's file is, by its SHA-256; those that are not named keep their own path.
        with_report: whether the exam's report, which gives the answer away, goes with it.
        exam_as: the exam's own part as JSON, where :func:`exam_record` has made it for another question.
    """
    source = question.source
    # By place: a hundred thousand of them are made at once, and names cost as much as the making.
    return Record(
        question.id,
        exam_record(exam, files) if exam_as is None else exam_as,
        question.format,
        question.stem,
        question.options or None,
        question.answer,
        question.also_right or None,
        question.explanation or None,
        [BoxRecord(each.radiograph, each.label, each.box.as_tuple()) for each in question.boxes] or None,
        question.task,
        question.content_type or None,
        question.category or None,
        question.subcategory or None,
        question.difficulty,
        (exam.report or None) if with_report else None,
        _known(generator=source.generator, version=source.version, prompt_version=source.prompt_version)
        or None,
    )


def plain(field: str, value: Any) -> Any:  # noqa: ANN401 - a field of any type, and its JSON
    """The value of a correctable field as JSON has it."""
    if value is None or isinstance(value, str):
        return value if value is None else str(value)
    if field == "boxes":
        return [
            {"radiograph": each.radiograph, "label": each.label, "box": list(each.box.as_tuple())}
            for each in value
        ]
    if field == "also_right":
        return [list(each) for each in value]
    return list(value)


def question_of(record: dict[str, Any]) -> Question:
    """The question of a record; its exam but for the id is not looked at.

    Raises:
        InvalidValue, KeyError, TypeError, ValueError: the record is no question.
    """
    source = record.get("source", {})
    return Question(
        id=record["id"],
        exam_id=record["exam"]["id"],
        format=AnswerFormat(record["format"]),
        stem=record["stem"],
        options=tuple(record.get("options", ())),
        answer=_answer(record["answer"]),
        also_right=tuple(tuple(each) for each in record.get("also_right", ())),
        explanation=record.get("explanation", ""),
        boxes=tuple(_box(each) for each in record.get("boxes", ())),
        task=Task(record["task"]) if "task" in record else None,
        content_type=record.get("content_type"),
        category=record.get("category"),
        subcategory=record.get("subcategory"),
        difficulty=Difficulty(record["difficulty"]) if "difficulty" in record else None,
        source=Source(
            generator=source.get("generator"),
            version=source.get("version"),
            prompt_version=source.get("prompt_version"),
        ),
    )


def exam_record(exam: Exam, files: dict[str, str]) -> dict[str, Any]:
    """The exam's part of a question's record."""
    radiographs = [
        {
            "id": each.id,
            "file": files.get(each.sha256 or "", each.file),
            **({} if each.view is View.UNKNOWN else {"view": each.view}),
        }
        for each in exam.radiographs
    ]
    told = _known(patient=exam.patient, indication=exam.indication, age=exam.age, sex=exam.sex)
    return {"id": exam.id, **told, "radiographs": radiographs}


def _known(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _answer(found: list[int] | str) -> Answer:
    return found if isinstance(found, str) else tuple(found)


def _box(found: dict[str, Any]) -> LabelledBox:
    x_min, y_min, x_max, y_max = found["box"]
    return LabelledBox(
        radiograph=found["radiograph"],
        label=found["label"],
        box=Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max),
    )
