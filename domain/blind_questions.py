"""Questions without their key, for people who may not see it. The key is not even fetched."""

from __future__ import annotations

from dataclasses import dataclass

from domain.vocabulary import AnswerFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindQuestion:
    """A question without anything that reveals its answer: no key, explanation, boxes or labels."""

    id: str
    exam_id: str
    format: AnswerFormat
    stem: str
    options: tuple[str, ...] = ()
