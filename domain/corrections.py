"""Corrections: the new values of the fields that an expert changed in a question."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

from domain.boxes import LabelledBox
from domain.questions import Answer, Question
from domain.vocabulary import Difficulty, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """New values for fields of a question; ``None`` leaves a field unchanged.

    ``boxes`` replaces all boxes; an empty tuple removes them. ``answer`` and ``also_right`` (alternative
    correct answers) are indices of the corrected options. A correction is checked against a question when
    :func:`apply_correction` applies it.
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
        """Whether the correction changes no field."""
        # Fast, because it is called several times for each of a hundred thousand verdicts.
        return _get_values(self) == _NO_VALUES


#: The fields of a question that can be corrected.
CORRECTABLE_FIELDS = tuple(correction_field.name for correction_field in fields(Correction))
_NO_VALUES = (None,) * len(CORRECTABLE_FIELDS)
_get_values = attrgetter(*CORRECTABLE_FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The value of one field of one question, before and after a correction."""

    field: str
    before: Any
    after: Any


def apply_correction(question: Question, correction: Correction) -> Question:
    """Apply a correction to a question.

    Unless the correction sets ``also_right``, it becomes empty if the key is stated or the number of options
    changes, because the alternative answers belong to the old key or the old options.

    Args:
        question: the question before the correction.
        correction: the new values.

    Returns:
        The corrected question; the same object if the correction is empty.

    Raises:
        InvalidValue: the corrected question is not valid; for example, its answer is not an option.
    """
    if correction.is_empty():
        return question
    named_values = zip(CORRECTABLE_FIELDS, _get_values(correction), strict=True)
    values: dict[str, Any] = {name: value for name, value in named_values if value is not None}
    same_option_count = len(values.get("options", question.options)) == len(question.options)
    if "also_right" not in values and ("answer" in values or not same_option_count):
        # the alternative answers belong to the old key or the old options
        values["also_right"] = ()
    return replace(question, **values)


def list_changes(question: Question, correction: Correction) -> tuple[Change, ...]:
    """List the changes that a correction makes to a question.

    Args:
        question: the question before the correction.
        correction: the new values.

    Returns:
        The changes in the order of the fields. A new value that equals the old one is not a change.

    Raises:
        InvalidValue: the corrected question is not valid.
    """
    return diff_questions(question, apply_correction(question, correction))


def diff_questions(before: Question, after: Question) -> tuple[Change, ...]:
    """List the correctable fields in which two versions of a question differ.

    Args:
        before: the old version.
        after: the new version.

    Returns:
        The changes in the order of the fields; empty if no field differs.
    """
    pairs = zip(CORRECTABLE_FIELDS, _get_values(before), _get_values(after), strict=True)
    return tuple([Change(field=name, before=old, after=new) for name, old, new in pairs if old != new])


def drop_unchanged(question: Question, correction: Correction) -> Correction:
    """Remove the values of a correction that equal those of the question.

    An unchanged key is kept if the question has alternative correct answers, because stating the key removes
    them.

    Args:
        question: the question before the correction.
        correction: the correction, which may repeat values of the question.

    Returns:
        A correction with the values that change the question; possibly empty.
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
