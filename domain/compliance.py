"""Compliance: the checked fields of a question and its exam, and the accuracy without the image."""

from __future__ import annotations

from dataclasses import dataclass

from domain.exams import compute_age_in_years
from domain.questions import Answer
from domain.vocabulary import AnswerFormat

#: The value of a property that the exam does not state.
NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedQuestion:
    """A question; ``number`` is its database id, ``patient`` the patient, or the exam if none is stated."""

    number: int
    patient: str
    format: AnswerFormat
    stem: str
    options: tuple[str, ...]
    answer: Answer
    also_right: tuple[tuple[int, ...], ...] = ()
    task: str = ""
    difficulty: str = ""
    age: str = ""
    sex: str = ""
    view: str = ""

    @property
    def candidates(self) -> tuple[str, ...]:
        """The answers to choose one from; empty for free text and for several options."""
        if self.format is AnswerFormat.SINGLE:
            return self.options
        return self.format.fixed_answers or ()

    @property
    def correct(self) -> frozenset[int]:
        """The indices of the correct candidates."""
        if isinstance(self.answer, str):
            return (
                frozenset({self.candidates.index(self.answer)})
                if self.answer in self.candidates
                else frozenset()
            )
        return frozenset({*self.answer, *(index for answer in self.also_right for index in answer)})

    @property
    def has_one_answer(self) -> bool:
        """Whether one of at least two candidates is to be chosen, and a correct one is known."""
        return len(self.candidates) > 1 and bool(self.correct)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOnlyAccuracy:
    """The accuracy of the classifier in a task; ``task`` is "all" for all tasks together.

    ``chance`` is the mean share of candidates that are correct. ``gain`` is the accuracy minus chance,
    with its 95 % interval, clustered by patient and conditional on the trained classifiers.
    """

    task: str
    n: int
    accuracy: float
    chance: float
    gain: float
    low: float
    high: float


def group_age(age: str) -> str:
    """Return the age group of an age as in DICOM ("058Y") or in years.

    >>> [group_age(age) for age in ("058Y", "7", "011M", "240M", "")]
    ['40 to 64', 'under 18', 'under 18', '18 to 39', 'not stated']
    """
    years = compute_age_in_years(age)
    if years is None:
        return NOT_STATED
    for limit, name in ((18, "under 18"), (40, "18 to 39"), (65, "40 to 64")):
        if years < limit:
            return name
    return "65 and over"
