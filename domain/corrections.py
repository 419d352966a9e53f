"""Corrections: what an expert changed in a question, field by field."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

from domain.boxes import LabelledBox
from domain.questions import Answer, Question
from domain.vocabulary import Difficulty, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """New values of the fields that were wrong; ``None`` leaves a field as it is.

    ``boxes`` is the whole new list (an empty one removes all). A new key goes with the new options, so
    ``answer`` and ``also_right`` (further answers, right by themselves) index the options as corrected.
    """

    stem: str | None = None
    options: tuple[str, ...] | None = None
    answer: Answer | None = None
    explanation: str | None = None
    task: Task | None = None
    category: str | None = None
    difficulty: Difficulty | None = None
    boxes: tuple[LabelledBox, ...] | None = None
    also_right: tuple[tuple[int, ...], ...] | None = None

    def is_empty(self) -> bool:
        """Whether nothing is changed."""
        # Asked several times of each of a hundred thousand verdicts.
        return _values(self) == _NOTHING


#: The fields of a question that may be corrected.
CORRECTABLE = tuple(each.name for each in fields(Correction))
_NOTHING = (None,) * len(CORRECTABLE)
_values = attrgetter(*CORRECTABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field of one question, before and after."""

    field: str
    before: Any
    after: Any


def corrected(question: Question, correction: Correction) -> Question:
    """The question with the correction applied.

    Further right answers are dropped if the key or the number of options changes and the correction names
    none: they belonged to the old key.

    Args:
        question: as it was before.
        correction: the new values.

    Raises:
        InvalidValue: the corrected question is not valid (an answer that is no option, say).
    """
    if correction.is_empty():
        return question
    new = zip(CORRECTABLE, _values(correction), strict=True)
    values: dict[str, Any] = {name: value for name, value in new if value is not None}
    reworded_only = len(values.get("options", question.options)) == len(question.options)
    if "also_right" not in values and ("answer" in values or not reworded_only):
        # Further right answers stood beside the old key, or for options that have moved.
        values["also_right"] = ()
    return replace(question, **values)


def changes(question: Question, correction: Correction) -> tuple[Change, ...]:
    """What the correction changes, in the order of the fields; equal values are no change.

    Raises:
        InvalidValue: the corrected question is not valid.
    """
    return differences(question, corrected(question, correction))


def differences(before: Question, after: Question) -> tuple[Change, ...]:
    """The correctable fields in which two versions of a question differ, in the order of the fields."""
    pairs = zip(CORRECTABLE, _values(before), _values(after), strict=True)
    return tuple([Change(field=name, before=old, after=new) for name, old, new in pairs if old != new])


def without_unchanged(question: Question, correction: Correction) -> Correction:
    """The correction with values that equal the question's own taken out.

    The same key stated again says something where further answers were right too: that they are not.
    """
    kept = {
        each.name: getattr(correction, each.name)
        for each in fields(correction)
        if getattr(correction, each.name) is not None
        and (
            getattr(correction, each.name) != getattr(question, each.name)
            or (each.name == "answer" and question.also_right)
        )
    }
    return Correction(**kept)
