"""Request schemas of the adjudication form. Every field is validated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from domain.errors import InvalidValue
from domain.image_display import ImageDisplay
from domain.questions import Question
from web.review.schemas import (
    DEFAULT_IMAGE_DISPLAY,
    CanvasObjects,
    CorrectionBody,
    Number,
    Text,
    parse_correction,
    parse_request,
)

__all__ = ["AdjudicationRequest", "DisputeRequest", "parse_own_values", "parse_request"]

_OptionIndex = Annotated[int, msgspec.Meta(ge=0, le=25)]


class DisputeRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request for the dispute of a question; None requests the first open dispute of the batch."""

    batch: Number
    question: Number | None


class OwnValuesBody(CorrectionBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The values that the adjudicator entered, for the fields with the source "own"."""

    options: list[Text] | None = None
    category: Text | None = None
    also_right: list[list[_OptionIndex]] | None = None


class AdjudicationRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The decision on a dispute: either reject the question, or keep it and choose the source of each value.

    ``value_sources`` has the source of each field: a reviewer by index, the original question, or the
    adjudicator's own value. ``reports`` are the ids of the reported problems on display.
    """

    batch: Number
    question: Number
    revision: Number
    decision: Literal["reject", "keep"]
    value_sources: dict[str, Annotated[int, msgspec.Meta(ge=0, le=25)] | Literal["original", "own"]]
    own: OwnValuesBody
    drawings: dict[str, CanvasObjects] | None = None
    reason: Text
    reports: list[Number] = []
    image_display: ImageDisplay = DEFAULT_IMAGE_DISPLAY


def parse_own_values(body: OwnValuesBody, question: Question) -> dict[str, Any]:
    """Convert the adjudicator's own values to the types of the domain.

    Raises:
        InvalidValue: the form has further correct answers, but the question has no options.
    """
    values = parse_correction(body)
    if body.also_right is not None:
        values["also_right"] = tuple(tuple(sorted(option_set)) for option_set in body.also_right)
    if values["also_right"] and not question.format.has_options:
        raise InvalidValue(
            "also_right", f"must be empty, because a {question.format} question has no options"
        )
    return values
