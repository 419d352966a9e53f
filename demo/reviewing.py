"""Simulated reviewers: their verdicts on questions whose errors are known, and the time that they take.

They detect most of the planted errors, and sometimes correct a question that has none. Every verdict is
marked as simulated.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields

from demo.planted import Planted
from domain.corrections import Correction
from domain.questions import Question
from domain.ratings import Ratings
from domain.verdicts import Decision, ErrorKind, Opinion
from domain.vocabulary import Difficulty, Task

SIMULATED = "simulated by the demo"
#: Probability that an error is detected.
_FOUND = 0.88
#: Probability of a small correction to a correct question.
_POLISHED = 0.06
_SKIPPED = 0.025

_COMMENTS = {
    ErrorKind.SEVERAL_RIGHT: "A second option is right as well.",
    ErrorKind.NONE_RIGHT: "None of the options is right as it came.",
    ErrorKind.WRONG_KEY: "Key and image don't agree.",
    ErrorKind.COMPARISON: "There is no earlier examination to compare with.",
    ErrorKind.NOT_VALID: "This can't be concluded from a radiograph, nor would it be right.",
    ErrorKind.NOT_IN_REPORT: "I see it, but the report doesn't mention it, so the key has no witness.",
    ErrorKind.NOT_IN_IMAGE: "I can't see this on either radiograph.",
    ErrorKind.EXPLANATION: "True, but it has nothing to do with the key.",
    ErrorKind.WRONG_PLACE: "Sides are swapped.",
    ErrorKind.BOX_WRONG: "The box lies elsewhere.",
    ErrorKind.NOT_ONE_EXAM: "These images show none of this; report and images are of two exams.",
    ErrorKind.NOT_ANSWERABLE: "A chest radiograph can't tell.",
    ErrorKind.GIVEN_AWAY: "The stem says it already.",
    ErrorKind.WORDING: "Had to read it twice.",
}
_SKIPS = (
    "Would like to see it on the diagnostic monitor first.",
    "Not sure; ask a colleague about the left base.",
    "Interrupted, will come back.",
)
_HARMED = {
    ErrorKind.EXPLANATION: "explanation_clarity",
    ErrorKind.NOT_IN_IMAGE: "image_alignment",
    ErrorKind.NOT_ONE_EXAM: "image_alignment",
    ErrorKind.BOX_WRONG: "image_alignment",
    ErrorKind.WRONG_PLACE: "image_alignment",
    ErrorKind.WORDING: "clinical_quality",
    ErrorKind.GIVEN_AWAY: "clinical_quality",
    ErrorKind.NOT_VALID: "clinical_quality",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The content of a simulated verdict. If ``skip`` holds a reason, the question was skipped instead."""

    decision: Decision
    opinion: Opinion
    seconds: float
    seconds_looking: float
    seconds_away: float
    skip: str = ""


def judge(question: Question, planted: Planted | None, *, source: random.Random, all_parts: bool) -> Judged:
    """Simulate a verdict. ``all_parts`` is False if the batch requests image alignment only."""
    found = planted if planted is not None and source.random() < _FOUND else None
    correction, errors, comment = Correction(), frozenset[ErrorKind](), ""
    decision = Decision.ACCEPT
    if found is not None:
        errors, comment = frozenset({found.kind}), _COMMENTS[found.kind]
        decision = Decision.REJECT
        if found.mended is not None:
            decision, correction = Decision.REVISE, _difference(question, found.mended)
    elif all_parts and question.explanation and source.random() < _POLISHED:
        decision = Decision.REVISE
        correction = Correction(explanation=f"{question.explanation} No other finding bears on the question.")
    # A batch that requests image alignment only accepts no corrections.
    if not all_parts and decision is Decision.REVISE:
        decision, correction = Decision.ACCEPT, Correction()
    ratings = _ratings(found, source)
    opinion = Opinion(
        ratings=Ratings(image_alignment=ratings.image_alignment), errors=errors, comment=comment
    )
    if all_parts:
        opinion = Opinion(
            ratings=ratings,
            domain_specific=source.random() < 0.94,
            cognitive_depth=_needs_thought(question, source),
            image_centric=question.task is not Task.DIFFERENTIAL or source.random() < 0.5,
            clinically_relevant=found is None or source.random() < 0.4,
            difficulty=_own_tier(question, source),
            errors=errors,
            correction=correction,
            comment=comment,
        )
    seconds = source.lognormvariate(3.55, 0.45) + (28 if decision is Decision.REVISE else 0)
    away = source.uniform(60, 400) if source.random() < 0.04 else 0.0
    return Judged(
        decision=decision,
        opinion=opinion,
        seconds=round(seconds + away, 1),
        seconds_looking=round(seconds * source.uniform(0.86, 0.99), 1),
        seconds_away=round(away, 1),
        skip=source.choice(_SKIPS) if source.random() < _SKIPPED else "",
    )


def _difference(question: Question, mended: Question) -> Correction:
    names = [each.name for each in fields(Correction)]
    return Correction(
        **{name: getattr(mended, name) for name in names if getattr(mended, name) != getattr(question, name)}
    )


def _ratings(found: Planted | None, source: random.Random) -> Ratings:
    def good() -> int:
        return source.choices((3, 4, 5), weights=(6, 29, 65))[0]

    values = {each.name: good() for each in fields(Ratings)}
    if found is not None:
        values["factual_correctness"] = source.choice((1, 2, 2, 3))
        values[_HARMED.get(found.kind, "clinical_quality")] = source.choice((1, 1, 2))
    return Ratings(**values)


def _needs_thought(question: Question, source: random.Random) -> bool:
    likely = {Task.DIFFERENTIAL: 0.92, Task.GEOMETRIC: 0.75, Task.LOCATION: 0.45, Task.NEGATION: 0.4}
    return source.random() < likely.get(question.task or Task.PRESENCE, 0.3)


def _own_tier(question: Question, source: random.Random) -> Difficulty:
    """The tier of the question, or a neighbouring one."""
    tiers = list(Difficulty)
    place = tiers.index(question.difficulty or Difficulty.MEDIUM)
    step = source.choices((-1, 0, 1), weights=(24, 62, 14))[0]
    return tiers[min(max(place + step, 0), len(tiers) - 1)]
