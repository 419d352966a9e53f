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
    """New values for fields of a question; ``None`` leaves a field as it is.

    ``boxes`` replaces all boxes (an empty tuple removes them). ``answer`` and ``also_right`` (other answers
    that are correct by themselves) are indices of the corrected options. A correction is not checked against
    a question until it is applied: :func:`apply_correction`.
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
        # Called several times for each of a hundred thousand verdicts.
        return _get_values(self) == _NO_VALUES


#: The fields of a question that may be corrected.
CORRECTABLE_FIELDS = tuple(correction_field.name for correction_field in fields(Correction))
_NO_VALUES = (None,) * len(CORRECTABLE_FIELDS)
_get_values = attrgetter(*CORRECTABLE_FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field of one question, before and after."""

    field: str
    before: Any
    after: Any


def apply_correction(question: Question, correction: Correction) -> Question:
    """Apply a correction to a question.

    ``also_right`` becomes empty if the key or the number of options changes and the correction does not set
    it: those answers belonged to the old key.

    Args:
        question: as it was before.
        correction: the new values.

    Returns:
        The corrected question; the same object if the correction is empty.

    Raises:
        InvalidValue: the corrected question is not valid (an answer that is no option, say).
    """
    if correction.is_empty():
        return question
    named_values = zip(CORRECTABLE_FIELDS, _get_values(correction), strict=True)
    values: dict[str, Any] = {name: value for name, value in named_values if value is not None}
    same_option_count = len(values.get("options", question.options)) == len(question.options)
    if "also_right" not in values and ("answer" in values or not same_option_count):
        # They belonged to the old key, or to options that have moved.
        values["also_right"] = ()
    return replace(question, **values)


def list_changes(question: Question, correction: Correction) -> tuple[Change, ...]:
    """The changes that a correction makes to a question.

    Args:
        question: as it was before.
        correction: the new values.

    Returns:
        In the order of the fields; a new value that equals the old one is no change.

    Raises:
        InvalidValue: the corrected question is not valid.
    """
    return diff_questions(question, apply_correction(question, correction))


def diff_questions(before: Question, after: Question) -> tuple[Change, ...]:
    """The correctable fields in which two versions of a question differ.

    Args:
        before: one version.
        after: the other version.

    Returns:
        In the order of the fields; empty if none differs.
    """
    pairs = zip(CORRECTABLE_FIELDS, _get_values(before), _get_values(after), strict=True)
    return tuple([Change(field=name, before=old, after=new) for name, old, new in pairs if old != new])


def drop_unchanged(question: Question, correction: Correction) -> Correction:
    """The correction without values that equal the question's own.

    An unchanged key stays if the question has other correct answers: stating it alone removes those.

    Args:
        question: that is corrected.
        correction: may repeat values of the question.

    Returns:
        The values that change something; empty if none does.
    """
    changed_values = {
        correction_field.name: getattr(correction, correction_field.name)
        for correction_field in fields(correction)
        if getattr(correction, correction_field.name) is not None
        and (
            getattr(correction, correction_field.name) != getattr(question, correction_field.name)
            or (correction_field.name == "answer" and question.also_right)
        )
    }
    return Correction(**changed_values)
