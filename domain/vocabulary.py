"""Closed lists of values that are used in questions, verdicts and pages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from domain.errors import InvalidValue


class Choice(StrEnum):
    """A closed list of values. A member's value is its id, which is stored and exported and never changes.

    A member is declared as its id, or as (id, label) if the screen shows a different text.
    """

    label: str

    def __new__(cls, identifier: str, label: str = "") -> Self:
        """Create a member with an id; the default label is the id."""
        member = str.__new__(cls, identifier)
        member._value_ = identifier
        member.label = label or identifier
        return member


YES_NO = ("yes", "no")
#: Replaces the controlled name of a raw name that is not mapped; without a raw name, the value is "".
NOT_MAPPED = "not mapped"
#: How sure a person is of their own answer; it is stored as the number of the label, from 1.
CONFIDENCE_LABELS = ("a guess", "unsure", "fairly sure", "sure", "certain")
CONFIDENCE_VALUES = range(1, len(CONFIDENCE_LABELS) + 1)


def check_confidence(confidence: int) -> None:
    """Check that a confidence is one of the allowed numbers.

    Raises:
        InvalidValue: it is not in :data:`CONFIDENCE_VALUES`.
    """
    if confidence not in CONFIDENCE_VALUES:
        raise InvalidValue(
            "confidence",
            f"must be {CONFIDENCE_VALUES[0]} ({CONFIDENCE_LABELS[0]}) to {CONFIDENCE_VALUES[-1]} "
            f"({CONFIDENCE_LABELS[-1]}), not {confidence!r}",
        )


class AnswerFormat(Choice):
    """The four formats of GEMeX: yes or no; one option; several options; free text."""

    CLOSED = "closed", "yes/no"
    SINGLE = "single", "single choice"
    MULTIPLE = "multiple", "multiple choice"
    OPEN = "open", "free text"

    @property
    def has_options(self) -> bool:
        """Whether the answer consists of options of the question."""
        return _ANSWER_RULES[self].has_options

    @property
    def allows_multiple(self) -> bool:
        """Whether an answer may consist of several options."""
        return _ANSWER_RULES[self].allows_multiple

    @property
    def fixed_answers(self) -> tuple[str, ...]:
        """The possible answers if they are the same for all questions of the format, otherwise empty."""
        return _ANSWER_RULES[self].fixed_answers

    @property
    def instruction(self) -> str:
        """The instruction that tells a model how to answer."""
        return _ANSWER_RULES[self].instruction

    @property
    def is_free_text(self) -> bool:
        """Whether the answer is free text."""
        return not self.has_options and not self.fixed_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnswerRule:
    """The way to answer questions of a format: with options, fixed words, or otherwise free text.

    ``instruction`` tells a model how to answer. A change to it changes the requests of evaluations.
    """

    instruction: str
    has_options: bool = False
    allows_multiple: bool = False
    fixed_answers: tuple[str, ...] = ()


_ANSWER_RULES = {
    AnswerFormat.CLOSED: _AnswerRule(instruction="Answer yes or no.", fixed_answers=YES_NO),
    AnswerFormat.SINGLE: _AnswerRule(instruction="Answer with the letter of one option.", has_options=True),
    AnswerFormat.MULTIPLE: _AnswerRule(
        instruction="Answer with the letters of all correct options, separated by commas.",
        has_options=True,
        allows_multiple=True,
    ),
    AnswerFormat.OPEN: _AnswerRule(instruction="Answer in a few words."),
}

#: The ids of the formats with free text.
FREE_TEXT_FORMATS = tuple(format_.value for format_ in AnswerFormat if format_.is_free_text)


class Task(Choice):
    """The five reasoning skills of ReXVQA (Table 1 of its paper)."""

    PRESENCE = "presence"
    LOCATION = "location"
    NEGATION = "negation"
    DIFFERENTIAL = "differential"
    GEOMETRIC = "geometric"


class Difficulty(Choice):
    """The three tiers of ReXVQA.

    A question without a difficulty has ``None``, which is a stratum of its own in sampling.
    """

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class View(StrEnum):
    """The projection of a radiograph. AP and PA are frontal, LATERAL is from the side."""

    PA = "PA"
    AP = "AP"
    LATERAL = "LATERAL"
    OTHER = "OTHER"
    UNKNOWN = "UNKNOWN"


class Sex(StrEnum):
    """The codes of DICOM's Patient's Sex (0010,0040), PS3.3 C.7.1.1."""

    FEMALE = "F"
    MALE = "M"
    OTHER = "O"
