"""What the settling form sends, checked field by field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from domain.errors import InvalidValue
from domain.questions import Question
from domain.vocabulary import AnswerFormat, Difficulty, Task
from ui.judging.forms import Number, Objects, PlainAnswer, Text, answer_of, form_from

__all__ = ["AdjudicationForm", "TurnForm", "form_from", "own_values"]

_Place = Annotated[int, msgspec.Meta(ge=0, le=25)]


class TurnForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another dispute of the batch; None is the next open one."""

    batch: Number
    to: Number | None


class OwnForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The adjudicator's own values of the fields picked so."""

    stem: Text | None = None
    options: list[Text] | None = None
    answer: PlainAnswer | None = None
    also_right: list[list[_Place]] | None = None
    explanation: Text | None = None
    task: Text | None = None
    category: Text | None = None
    difficulty: Text | None = None


class AdjudicationForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a dispute is settled: rejected, or whose value each field takes."""

    batch: Number
    question: Number
    revision: Number
    decision: Literal["reject", "stand"]
    picks: dict[str, Annotated[int, msgspec.Meta(ge=0, le=25)] | Literal["machine", "own"]]
    own: OwnForm
    drawings: dict[str, Objects] | None = None
    reason: Text


def own_values(form: OwnForm, question: Question) -> dict[str, Any]:
    """The own values as the domain has them.

    Raises:
        InvalidValue: a task or difficulty that is none.
    """
    try:
        found = {
            "stem": form.stem,
            "options": None if form.options is None else tuple(form.options),
            "answer": answer_of(form.answer),
            "also_right": None
            if form.also_right is None
            else tuple(tuple(sorted(each)) for each in form.also_right),
            "explanation": form.explanation,
            "task": None if form.task is None else Task(form.task),
            "category": form.category,
            "difficulty": None if form.difficulty is None else Difficulty(form.difficulty),
        }
    except ValueError as error:
        raise InvalidValue("own", str(error)) from error
    if found["also_right"] and question.format not in (AnswerFormat.SINGLE, AnswerFormat.MULTIPLE):
        raise InvalidValue(
            "also_right", f"a {question.format} question has no options that could be right too"
        )
    return found
