"""Request schemas of the adjudication form. Every field is validated."""

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
    """A request for another dispute of the batch; None requests the next open one."""

    batch: Number
    to: Number | None


class OwnForm(CorrectionForm, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The values that the adjudicator entered, for the fields set to the adjudicator's own value."""

    options: list[Text] | None = None
    category: Text | None = None
    also_right: list[list[_Place]] | None = None


class AdjudicationForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The decision on a dispute: rejected, or whose value each field takes."""

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
    """Convert the adjudicator's own values to the types of the domain.

    Raises:
        InvalidValue: the form has further right answers, but the question has no options.
    """
    found = corrected_values(form)
    if form.also_right is not None:
        found["also_right"] = tuple(tuple(sorted(each)) for each in form.also_right)
    if found["also_right"] and not question.format.has_options:
        raise InvalidValue(
            "also_right", f"a {question.format} question has no options that could be right too"
        )
    return found
