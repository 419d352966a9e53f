"""Simulates the verdicts of reviewers on questions with known errors, and the time that they take.

The reviewers detect most of the planted errors, and sometimes correct a question that has no error. Every
verdict is marked as simulated.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields

from demo.planted import PlantedError
from domain.corrections import Correction
from domain.questions import Question
from domain.ratings import Ratings
from domain.verdicts import Decision, ErrorKind, Opinion
from domain.vocabulary import Difficulty, Task

SIMULATED = "simulated by the demo"
#: Probability that an error is detected.
_DETECTION_PROBABILITY = 0.88
#: Probability of a small correction to a correct question.
_MINOR_EDIT_PROBABILITY = 0.06
_SKIP_PROBABILITY = 0.025

_COMMENTS = {
    ErrorKind.SEVERAL_CORRECT: "A second option is right as well.",
    ErrorKind.NONE_CORRECT: "None of the options is right as written.",
    ErrorKind.WRONG_KEY: "Key and image don't agree.",
    ErrorKind.COMPARISON: "There is no earlier examination to compare with.",
    ErrorKind.NOT_CLINICALLY_VALID: "This is wrong, and a radiograph could not show it.",
    ErrorKind.NOT_IN_REPORT: "I see it, but the report does not mention it.",
    ErrorKind.NOT_IN_IMAGE: "I can't see this on either radiograph.",
    ErrorKind.EXPLANATION: "True, but it has nothing to do with the key.",
    ErrorKind.WRONG_LOCATION: "Sides are swapped.",
    ErrorKind.BOX_WRONG: "The box lies elsewhere.",
    ErrorKind.EXAM_MISMATCH: "These images show none of this; report and images are of two exams.",
    ErrorKind.NOT_ANSWERABLE: "A chest radiograph cannot show this.",
    ErrorKind.ANSWER_REVEALED: "The stem gives the answer away.",
    ErrorKind.WORDING: "Had to read it twice.",
}
_SKIP_REASONS = (
    "Would like to see it on the diagnostic monitor first.",
    "Not sure; ask a colleague about the left base.",
    "Interrupted, will come back.",
)
_AFFECTED_RATING = {
    ErrorKind.EXPLANATION: "explanation_clarity",
    ErrorKind.NOT_IN_IMAGE: "image_alignment",
    ErrorKind.EXAM_MISMATCH: "image_alignment",
    ErrorKind.BOX_WRONG: "image_alignment",
    ErrorKind.WRONG_LOCATION: "image_alignment",
    ErrorKind.WORDING: "clinical_quality",
    ErrorKind.ANSWER_REVEALED: "clinical_quality",
    ErrorKind.NOT_CLINICALLY_VALID: "clinical_quality",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedVerdict:
    """The content of a simulated verdict.

    If ``skip_reason`` is not empty, the question was skipped instead.
    """

    decision: Decision
    opinion: Opinion
    seconds: float
    seconds_looking: float
    seconds_away: float
    skip_reason: str = ""


def simulate_verdict(
    question: Question, planted: PlantedError | None, *, rng: random.Random, all_fields: bool
) -> SimulatedVerdict:
    """Simulate a verdict. ``all_fields`` is whether the batch requests all fields."""
    detected_error = planted if planted is not None and rng.random() < _DETECTION_PROBABILITY else None
    correction, errors, comment = Correction(), frozenset[ErrorKind](), ""
    decision = Decision.ACCEPT
    if detected_error is not None:
        errors, comment = frozenset({detected_error.kind}), _COMMENTS[detected_error.kind]
        decision = Decision.REJECT
        if detected_error.corrected is not None:
            decision, correction = Decision.REVISE, _build_correction(question, detected_error.corrected)
    elif all_fields and question.explanation and rng.random() < _MINOR_EDIT_PROBABILITY:
        decision = Decision.REVISE
        correction = Correction(explanation=f"{question.explanation} No other finding affects the answer.")
    # A batch that requests only image alignment accepts no corrections.
    if not all_fields and decision is Decision.REVISE:
        decision, correction = Decision.ACCEPT, Correction()
    ratings = _simulate_ratings(detected_error, rng)
    opinion = Opinion(
        ratings=Ratings(image_alignment=ratings.image_alignment), errors=errors, comment=comment
    )
    if all_fields:
        opinion = Opinion(
            ratings=ratings,
            domain_specific=rng.random() < 0.94,
            cognitive_depth=_needs_reasoning(question, rng),
            image_centric=question.task is not Task.DIFFERENTIAL or rng.random() < 0.5,
            clinically_relevant=detected_error is None or rng.random() < 0.4,
            difficulty=_simulate_difficulty(question, rng),
            errors=errors,
            correction=correction,
            comment=comment,
        )
    seconds = rng.lognormvariate(3.55, 0.45) + (28 if decision is Decision.REVISE else 0)
    away_seconds = rng.uniform(60, 400) if rng.random() < 0.04 else 0.0
    return SimulatedVerdict(
        decision=decision,
        opinion=opinion,
        seconds=round(seconds + away_seconds, 1),
        seconds_looking=round(seconds * rng.uniform(0.86, 0.99), 1),
        seconds_away=round(away_seconds, 1),
        skip_reason=rng.choice(_SKIP_REASONS) if rng.random() < _SKIP_PROBABILITY else "",
    )


def _build_correction(question: Question, corrected: Question) -> Correction:
    names = [field.name for field in fields(Correction)]
    return Correction(
        **{
            name: getattr(corrected, name)
            for name in names
            if getattr(corrected, name) != getattr(question, name)
        }
    )


def _simulate_ratings(detected_error: PlantedError | None, rng: random.Random) -> Ratings:
    def draw_good_rating() -> int:
        return rng.choices((3, 4, 5), weights=(6, 29, 65))[0]

    values = {field.name: draw_good_rating() for field in fields(Ratings)}
    if detected_error is not None:
        values["factual_correctness"] = rng.choice((1, 2, 2, 3))
        values[_AFFECTED_RATING.get(detected_error.kind, "clinical_quality")] = rng.choice((1, 1, 2))
    return Ratings(**values)


def _needs_reasoning(question: Question, rng: random.Random) -> bool:
    probability = {Task.DIFFERENTIAL: 0.92, Task.GEOMETRIC: 0.75, Task.LOCATION: 0.45, Task.NEGATION: 0.4}
    return rng.random() < probability.get(question.task or Task.PRESENCE, 0.3)


def _simulate_difficulty(question: Question, rng: random.Random) -> Difficulty:
    """Return the difficulty of the question, or a neighbouring one."""
    difficulties = list(Difficulty)
    index = difficulties.index(question.difficulty or Difficulty.MEDIUM)
    step = rng.choices((-1, 0, 1), weights=(24, 62, 14))[0]
    return difficulties[min(max(index + step, 0), len(difficulties) - 1)]
