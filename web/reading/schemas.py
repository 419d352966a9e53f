"""What the reading form sends, checked field by field."""

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
    """What every request says: which place of the reader's order in which study."""

    study: Number
    position: Number


class TurnForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Another case: that at a place, or the next one that is open."""

    study: Number
    to: Number | None


class TimeForm(CaseForm, frozen=True):
    """Time on the case so far."""

    seconds: Seconds
    seconds_looking: Seconds
    seconds_away: Seconds


class EntryForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is entered and not yet answered."""

    answer: PlainAnswer | None = None
    cannot: bool = False
    confidence: Rating | None = None
    faulty: Text = ""
    drawings: dict[str, Objects] | None = None


class DraftForm(CaseForm, frozen=True):
    """The entry as it changes; ``revision`` is the one the form knows."""

    part: Annotated[str, msgspec.Meta(pattern="^entry$")]
    revision: Annotated[int, msgspec.Meta(ge=0)]
    body: EntryForm


class AnswerForm(TimeForm, frozen=True):
    """The answer: places of the options shown, text, or None; ``revision`` is the one that it becomes."""

    revision: Number
    answer: PlainAnswer | None
    cannot: bool
    confidence: Rating | None
    faulty: Text
    drawings: dict[str, Objects] | None
    image: ImageDisplay = NOT_SAID


def plain_entry(entry: EntryForm, *, boxes: list[dict[str, Any]] | None) -> dict[str, Any]:
    """The entry as a draft keeps it, its boxes in pixels of the matrix."""
    return {
        "answer": entry.answer,
        "cannot": entry.cannot,
        "confidence": entry.confidence,
        "faulty": entry.faulty,
        "boxes": boxes,
    }
