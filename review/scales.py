"""What is read off a verdict for agreement: the decision, the key kept or changed, ratings, flags, errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from domain.corrections import corrected
from domain.questions import Question
from domain.verdicts import RATING_NAMES, Decision, ErrorKind, Verdict
from domain.vocabulary import Difficulty
from review.forms import key_of

#: The yes/no questions of the sheet.
FLAGS = ("domain_specific", "cognitive_depth", "image_centric", "clinically_relevant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How one aspect is read off a verdict: a category from 0, -1 where nothing was said."""

    name: str
    group: str
    k: int
    read: Callable[[Question, Verdict], int]
    weighted: bool = False


def _changed_key(question: Question, verdict: Verdict) -> int:
    if verdict.decision is Decision.REJECT:
        return -1
    return int(key_of(corrected(question, verdict.opinion.correction)) != key_of(question))


def _rating(name: str) -> Callable[[Question, Verdict], int]:
    def read(_question: Question, verdict: Verdict) -> int:
        value = getattr(verdict.opinion.ratings, name)
        return -1 if value is None else int(value) - 1

    return read


def _flag(name: str) -> Callable[[Question, Verdict], int]:
    def read(_question: Question, verdict: Verdict) -> int:
        value = getattr(verdict.opinion, name)
        return -1 if value is None else int(value)

    return read


def _error(kind: ErrorKind) -> Callable[[Question, Verdict], int]:
    return lambda _question, verdict: int(kind in verdict.opinion.errors)


def _tier(_question: Question, verdict: Verdict) -> int:
    tier = verdict.opinion.difficulty
    return -1 if tier is None else list(Difficulty).index(tier)


def _words(name: str) -> str:
    return name.replace("_", " ")


SCALES: tuple[Scale, ...] = (
    Scale(
        name="decision", group="decision", k=len(Decision),
        read=lambda _question, verdict: list(Decision).index(verdict.decision),
    ),
    Scale(name="key: kept or changed", group="key", k=2, read=_changed_key),
    *(
        Scale(name=_words(each), group="rating", k=5, read=_rating(each), weighted=True)
        for each in RATING_NAMES
    ),
    Scale(name="expert tier", group="rating", k=len(Difficulty), read=_tier, weighted=True),
    *(Scale(name=_words(each), group="flag", k=2, read=_flag(each)) for each in FLAGS),
    *(Scale(name=each.value, group="error", k=2, read=_error(each)) for each in ErrorKind),
)  # fmt: skip
