"""Juries of language models: judges of several model families answer fixed criteria about a question.

The criteria are part of a prompt version (``quality.juries.criteria``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.checks import Check
from domain.vocabulary import Choice

#: A jury decides only if judges of at least this many model families gave a usable reply.
MIN_FAMILIES = 2
#: Why a judge was not asked about a question: a model of its family wrote it.
SAME_FAMILY = "same family as the author"


class CriterionAnswer(Choice):
    """The answer of a judge to a criterion. Easy, medium and hard answer the criterion on difficulty."""

    YES = "yes"
    NO = "no"
    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"
    INSUFFICIENT = "insufficient evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryCriterion:
    """A fixed criterion of a check: its id in the replies, and the criterion as a sentence."""

    id: str
    criterion: str

    @property
    def name(self) -> str:
        """The id in words.

        >>> JuryCriterion(id="needs_image", criterion="").name
        'needs image'
        """
        return self.id.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """The answers of one judge on a question, in the order of the criteria.

    Without a usable reply ``answers`` is empty, and ``failure`` states the reason.
    """

    family: str
    answers: tuple[CriterionAnswer, ...]
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model that judges the questions of a jury by one check.

    Attributes:
        id: the id in the database.
        check: the check.
        family: the family of the model.
        model: the name of the model.
        prompt: the label of the prompt version with the criteria.
        model_run: the name of the run of its requests; None if it has no question to judge.
        is_test_model: whether it is the small model of the tests.
    """

    id: int
    check: Check
    family: str
    model: str
    prompt: str
    model_run: str | None
    is_test_model: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Jury:
    """A jury: which models judge which questions of a dataset.

    Attributes:
        id: the id in the database, which people use as its name.
        dataset: the name of the dataset.
        questions: the number of questions for which a judge was asked or was excluded as SAME_FAMILY.
        unknown_authors: the number of these with neither a recorded origin nor a generator.
        written_by: the family that a person assumed for questions without a known author, or None.
        override_reason: why judges may belong to the family of the author; "" if they may not.
        judges: the judges of each check.
    """

    id: int
    dataset: str
    questions: int
    unknown_authors: int
    written_by: str | None
    override_reason: str
    planned_at: datetime
    judges: tuple[Judge, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on exceptions: unknown authors, and judges of the author's family."""
        notes = []
        if self.unknown_authors:
            assumption = (
                f"assumed to be {self.written_by}" if self.written_by else "any family may judge them"
            )
            notes.append(f"Questions without a known author: {self.unknown_authors:,} ({assumption}).")
        if self.override_reason:
            notes.append(f"Models may judge their own family: {self.override_reason}")
        return tuple(notes)

    @property
    def is_test(self) -> bool:
        """Whether a judge is the small model of the tests, whose answers mean nothing."""
        return any(judge.is_test_model for judge in self.judges)
