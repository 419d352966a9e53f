"""Request schemas of the reading form. Every field is validated."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from domain.image_display import ImageDisplay
from web.review.schemas import (
    DEFAULT_IMAGE_DISPLAY,
    AnswerJson,
    CanvasObjects,
    Confidence,
    DrawingsBody,
    Number,
    Seconds,
    Text,
    parse_request,
)

__all__ = [
    "AnswerRequest",
    "CaseRequest",
    "DraftRequest",
    "DrawingsBody",
    "NavigationRequest",
    "ViewingTimesRequest",
    "parse_request",
]


class CaseRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of every request: the study, and the position of the case in the reader's order."""

    study: Number
    position: Number


class NavigationRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request for the case at a position; None requests the next open case."""

    study: Number
    position: Number | None


class ViewingTimesRequest(CaseRequest, frozen=True):
    """Time spent on the case so far."""

    seconds: Seconds
    seconds_looking: Seconds
    seconds_away: Seconds


class EntryBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Input that has not been submitted as an answer."""

    answer: AnswerJson | None = None
    cannot_determine: bool = False
    confidence: Confidence | None = None
    fault_description: Text = ""
    drawings: dict[str, CanvasObjects] | None = None


class DraftRequest(CaseRequest, frozen=True):
    """The current input. ``revision`` is the latest revision that the form has received."""

    part: Annotated[str, msgspec.Meta(pattern="^entry$")]
    revision: Annotated[int, msgspec.Meta(ge=0)]
    body: EntryBody


class AnswerRequest(ViewingTimesRequest, frozen=True):
    """The submitted answer: positions of the displayed options, a text, or None.

    ``revision`` is the revision of this answer.
    """

    revision: Number
    answer: AnswerJson | None
    cannot_determine: bool
    confidence: Confidence | None
    fault_description: Text
    drawings: dict[str, CanvasObjects] | None
    image_display: ImageDisplay = DEFAULT_IMAGE_DISPLAY


def entry_to_json(entry: EntryBody, *, boxes: list[dict[str, Any]] | None) -> dict[str, Any]:
    """Convert the input to the body of a stored draft, with boxes in pixels of the image matrix."""
    return {
        "answer": entry.answer,
        "cannot": entry.cannot_determine,
        "confidence": entry.confidence,
        "faulty": entry.fault_description,
        "boxes": boxes,
    }
