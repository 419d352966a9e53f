"""What the settling form sends, checked field by field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from domain.errors import InvalidValue
from domain.image_display import ImageDisplay
from domain.questions import Question
from web.review.schemas import NOT_SAID, CorrectionForm, Number, Objects, Text, corrected_values, form_from

__all__ = ["AdjudicationForm", "TurnForm", "form_from", "own_values"]

_Place = Annotated[int, msgspec.Meta(ge=0, le=25)]


class TurnForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another dispute of the batch; None is the next open one."""

    batch: Number
    to: Number | None


class OwnForm(CorrectionForm, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The adjudicator's own values of the fields picked so."""

    options: list[Text] | None = None
    category: Text | None = None
    also_right: list[list[_Place]] | None = None


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
    image: ImageDisplay = NOT_SAID


def own_values(form: OwnForm, question: Question) -> dict[str, Any]:
    """The own values as the domain has them.

    Raises:
        InvalidValue: further right answers of a question without options.
    """
    found = corrected_values(form)
    if form.also_right is not None:
        found["also_right"] = tuple(tuple(sorted(each)) for each in form.also_right)
    if found["also_right"] and not question.format.has_options:
        raise InvalidValue(
            "also_right", f"a {question.format} question has no options that could be right too"
        )
    return found
