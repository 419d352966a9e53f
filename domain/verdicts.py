"""Verdicts: one reviewer's judgement of one question, appended and never edited."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.corrections import Correction
from domain.errors import InvalidValue
from domain.questions import Answer
from domain.vocabulary import Difficulty


class Decision(StrEnum):
    """What becomes of the question."""

    ACCEPT = "accept"
    REVISE = "revise"
    REJECT = "reject"


class ErrorKind(StrEnum):
    """Kinds of error an expert finds; several may hold. The first ones are those that ReXVQA counted."""

    SEVERAL_RIGHT = "more than one right answer"
    NONE_RIGHT = "no right answer"
    WRONG_KEY = "wrong key"
    COMPARISON = "comparison with a prior"
    NOT_VALID = "not clinically valid"
    NOT_IN_REPORT = "finding not in the report"
    NOT_IN_IMAGE = "finding not in the image"
    EXPLANATION = "explanation does not support the key"
    WRONG_PLACE = "wrong side or place"
    BOX_WRONG = "box wrong"
    NOT_ONE_EXAM = "image and report are not of one exam"
    NOT_ANSWERABLE = "not answerable from the image"
    GIVEN_AWAY = "stem gives the answer away"
    WORDING = "wording"


#: A rating is 1 (worst) to 5 (best); ``None`` is "not judged", never 0.
Rating = int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """The four dimensions of ReXVQA's expert review (its section 3.3.3), each 1 to 5 or not judged."""

    clinical_quality: Rating = None
    explanation_clarity: Rating = None
    factual_correctness: Rating = None
    image_alignment: Rating = None

    def __post_init__(self) -> None:
        for name in RATING_NAMES:
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or value not in (1, 2, 3, 4, 5)):
                raise InvalidValue(name, f"must be 1 to 5, not {value!r}")


RATING_NAMES = ("clinical_quality", "explanation_clarity", "factual_correctness", "image_alignment")
#: The yes-or-no questions of an opinion.
FLAG_NAMES = ("domain_specific", "cognitive_depth", "image_centric", "clinically_relevant")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAnswer:
    """What the reviewer answered before seeing the key; ``answer`` None is "cannot determine"."""

    answer: Answer | None
    confidence: int
    committed_at: datetime

    def __post_init__(self) -> None:
        if self.confidence not in (1, 2, 3, 4, 5):
            raise InvalidValue("confidence", f"must be 1 (a guess) to 5 (certain), not {self.confidence!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """All that a reviewer says of a question: the body of a verdict, and of a draft of one.

    ``None`` is "not judged" throughout. ``domain_specific``: needs radiology. ``cognitive_depth``: more
    than recall. ``difficulty`` is the expert's own, beside the machine's.
    """

    ratings: Ratings = field(default_factory=Ratings)
    domain_specific: bool | None = None
    cognitive_depth: bool | None = None
    image_centric: bool | None = None
    clinically_relevant: bool | None = None
    difficulty: Difficulty | None = None
    errors: frozenset[ErrorKind] = frozenset()
    correction: Correction = field(default_factory=Correction)
    clinical_reasoning: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One reviewer's judgement of one question of a batch.

    ``revision`` counts from 1 for each (batch, question, person); a higher one supersedes the lower.
    ``seconds`` since the question was opened; ``seconds_looking`` of them with the image drawn and the
    page visible, ``seconds_away`` hidden or after five minutes without a movement.
    """

    batch_id: int
    question_id: int
    person_id: int
    revision: int
    decision: Decision
    opinion: Opinion
    seconds: float
    seconds_looking: float
    seconds_away: float
    given_at: datetime
    why: str = ""

    def __post_init__(self) -> None:
        if self.revision < 1:
            raise InvalidValue("revision", f"counts from 1, not {self.revision}")
        for name in ("seconds", "seconds_looking", "seconds_away"):
            if not getattr(self, name) >= 0:
                raise InvalidValue(name, f"must be 0 or more, not {getattr(self, name)!r}")
        check_decision(self.decision, self.opinion)


def check_decision(decision: Decision, opinion: Opinion) -> None:
    """Raise InvalidValue unless the decision and what goes with it agree."""
    if decision is Decision.REJECT and not opinion.errors and not opinion.comment.strip():
        raise InvalidValue("errors", "a rejected question needs a kind of error or a comment that says why")
    if decision is Decision.REVISE and opinion.correction.is_empty():
        raise InvalidValue(
            "correction", "nothing was corrected; accept the question, or correct it, or reject it"
        )
    if decision is Decision.ACCEPT and not opinion.correction.is_empty():
        raise InvalidValue("decision", "something was corrected, so the decision is revise, not accept")
