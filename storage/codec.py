"""Lists and answers as the JSON text of a column, and back. Compact, sorted keys, one spelling a value."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from domain.boxes import Box, LabelledBox
from domain.corrections import Correction
from domain.questions import Answer
from domain.verdicts import ErrorKind
from domain.vocabulary import Difficulty, Task

_encoder = msgspec.json.Encoder(order="sorted")
_decoder = msgspec.json.Decoder()


def to_json(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """JSON text of a plain value; numbers must be finite."""
    return _encoder.encode(value).decode()


def from_json(text: str) -> Any:  # noqa: ANN401  # any JSON value
    """The plain value of JSON text."""
    return _decoder.decode(text)


@lru_cache(maxsize=10_000)
def errors_from_text(text: str) -> frozenset[ErrorKind]:
    """The kinds of error of a verdict's column; there are few different ones in a great many verdicts."""
    return frozenset(map(ErrorKind, from_json(text)))


def boxes_to_plain(boxes: tuple[LabelledBox, ...]) -> list[dict[str, Any]]:
    """Boxes as formats.md writes them: ``[{radiograph, label, box: [x_min, y_min, x_max, y_max]}]``."""
    return [
        {"radiograph": each.radiograph, "label": each.label, "box": list(each.box.as_tuple())}
        for each in boxes
    ]


def boxes_from_plain(plain: list[dict[str, Any]]) -> tuple[LabelledBox, ...]:
    """The inverse of :func:`boxes_to_plain`."""
    return tuple(
        [
            LabelledBox(radiograph=each["radiograph"], label=each["label"], box=_box(*each["box"]))
            for each in plain
        ]
    )


def _box(x_min: float, y_min: float, x_max: float, y_max: float) -> Box:
    return Box(x_min=x_min, y_min=y_min, x_max=x_max, y_max=y_max)


def answer_to_plain(answer: Answer) -> list[int] | str:
    """The key as JSON has it: a list of option indices, or text."""
    return answer if isinstance(answer, str) else list(answer)


def answer_from_plain(plain: list[int] | str) -> Answer:
    """The inverse of :func:`answer_to_plain`."""
    return plain if isinstance(plain, str) else tuple(plain)


def correction_to_plain(correction: Correction) -> dict[str, Any]:
    """Only the fields that are corrected."""
    plain: dict[str, Any] = {}
    for name in ("stem", "explanation", "category", "task", "difficulty"):
        if getattr(correction, name) is not None:
            plain[name] = str(getattr(correction, name))
    if correction.options is not None:
        plain["options"] = list(correction.options)
    if correction.answer is not None:
        plain["answer"] = answer_to_plain(correction.answer)
    if correction.boxes is not None:
        plain["boxes"] = boxes_to_plain(correction.boxes)
    if correction.also_right is not None:
        plain["also_right"] = [list(each) for each in correction.also_right]
    return plain


def correction_from_plain(plain: dict[str, Any]) -> Correction:
    """The inverse of :func:`correction_to_plain`.

    Raises:
        ValueError: a task, difficulty or box that can't be.
    """
    return Correction(
        stem=plain.get("stem"),
        options=tuple(plain["options"]) if "options" in plain else None,
        answer=answer_from_plain(plain["answer"]) if "answer" in plain else None,
        explanation=plain.get("explanation"),
        task=Task(plain["task"]) if "task" in plain else None,
        category=plain.get("category"),
        difficulty=Difficulty(plain["difficulty"]) if "difficulty" in plain else None,
        boxes=boxes_from_plain(plain["boxes"]) if "boxes" in plain else None,
        also_right=tuple(tuple(each) for each in plain["also_right"]) if "also_right" in plain else None,
    )
