"""Request schemas of the reading form. Every field is validated."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from domain.image_display import ImageDisplay
from web.review.schemas import (
    NOT_SAID,
    DrawingsForm,
    Number,
    Objects,
    PlainAnswer,
    Rating,
    Seconds,
    Text,
    form_from,
)

__all__ = ["AnswerForm", "CaseForm", "DraftForm", "DrawingsForm", "TimeForm", "TurnForm", "form_from"]


class CaseForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of every request: the study, and the position in the reader's order."""

    study: Number
    position: Number


class TurnForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request for another case: the one at a position, or the next open one."""

    study: Number
    to: Number | None


class TimeForm(CaseForm, frozen=True):
    """Time spent on the case so far."""

    seconds: Seconds
    seconds_looking: Seconds
    seconds_away: Seconds


class EntryForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Input that has not been submitted as an answer."""

    answer: PlainAnswer | None = None
    cannot: bool = False
    confidence: Rating | None = None
    faulty: Text = ""
    drawings: dict[str, Objects] | None = None


class DraftForm(CaseForm, frozen=True):
    """The current input; ``revision`` is the latest one that the form knows."""

    part: Annotated[str, msgspec.Meta(pattern="^entry$")]
    revision: Annotated[int, msgspec.Meta(ge=0)]
    body: EntryForm


class AnswerForm(TimeForm, frozen=True):
    """The answer: positions of the displayed options, text, or None. ``revision`` is its new revision."""

    revision: Number
    answer: PlainAnswer | None
    cannot: bool
    confidence: Rating | None
    faulty: Text
    drawings: dict[str, Objects] | None
    image: ImageDisplay = NOT_SAID


def plain_entry(entry: EntryForm, *, boxes: list[dict[str, Any]] | None) -> dict[str, Any]:
    """The input as a draft stores it, with boxes in pixels of the matrix."""
    return {
        "answer": entry.answer,
        "cannot": entry.cannot,
        "confidence": entry.confidence,
        "faulty": entry.faulty,
        "boxes": boxes,
    }
