"""What one person sees of one question: with the key, or blinded, when the key was not even fetched."""

from __future__ import annotations

from dataclasses import dataclass

from domain.vocabulary import AnswerFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindQuestion:
    """A question without anything that gives its answer away: no key, explanation, boxes or labels."""

    id: str
    exam_id: str
    format: AnswerFormat
    stem: str
    options: tuple[str, ...] = ()
