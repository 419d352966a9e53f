"""Practice sets: questions with known answers that qualify a reviewer for batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from domain.corrections import Correction
from domain.errors import InvalidValue
from domain.verdicts import Decision, ErrorKind, Verdict

#: The maximum number of questions of a practice set.
MAX_PRACTICE_QUESTIONS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PassMark:
    """The shares (0 to 1) that a reviewer must reach to pass a practice set.

    ``found`` is the share of faulty questions whose error the reviewer found, ``accepted`` the share of sound
    questions that the reviewer accepted.

    Raises:
        InvalidValue: a share is outside its range.
    """

    found: float = 0.7
    accepted: float = 0.7

    def __post_init__(self) -> None:
        for name in ("found", "accepted"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidValue(name, f"must be a share from 0 to 1, not {getattr(self, name):g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """The known answer of a practice question: what the experts settled, and why.

    ``errors`` may be empty for a faulty question whose kind of error is not known.

    Raises:
        InvalidValue: the question is accepted although it has errors or a correction.
    """

    decision: Decision
    errors: frozenset[ErrorKind] = frozenset()
    correction: Correction = field(default_factory=Correction)
    explanation: str = ""

    def __post_init__(self) -> None:
        if self.is_sound and (self.errors or not self.correction.is_empty()):
            raise InvalidValue("decision", "a question with errors or a correction is not sound")

    @property
    def is_sound(self) -> bool:
        """Whether the question has no error."""
        return self.decision is Decision.ACCEPT


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeSet:
    """A practice set: a batch of copies of questions whose answers are known.

    ``id`` and ``name`` are those of the batch. ``dataset_id`` is the unlisted dataset of the copies.
    ``source`` states where the known answers come from. ``sound`` and ``faulty`` count the questions.
    """

    id: int
    name: str
    dataset_id: int
    pass_mark: PassMark
    source: str
    sound: int
    faulty: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeVerdict:
    """The known answer of a practice question, and a reviewer's first verdict; None if it is not judged."""

    question_row_id: int
    exam_row_id: int
    known_answer: KnownAnswer
    verdict: Verdict | None
