"""The data that a reader sees: a case to answer, or why there is none now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.exams import Exam
from domain.protocols import Protocol
from domain.questions import Question
from domain.readings import Reading, ReadingKey
from domain.studies import Arm, BlindCase, Reader, ReaderStudy, Slot
from measures.proportions import Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCounts:
    """A reader's progress: scored cases answered and in all, and training cases."""

    done: int
    total: int
    training_done: int
    training: int

    @property
    def remaining(self) -> int:
        """The number of cases still to be read, including training cases."""
        return self.total + self.training - self.done - self.training_done


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """The feedback of a training case: whether the answer was correct, and the question with its key."""

    correct: bool
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSheet:
    """One case as shown to a reader; nothing that reveals the answer was read.

    ``exam`` has no report, and no indication, age or sex in an arm that does not show them. ``options`` are
    in the order of the slot. ``reading`` is the reader's own latest answer, if the case was answered.
    ``feedback`` is that of an answered training case. ``times`` are seconds in all, looking and away so far.
    ``upcoming_images`` are (exam number, radiograph id) of the next case, for preloading.
    """

    study: ReaderStudy
    reader: Reader
    protocol: Protocol
    arm: Arm
    slot: Slot
    key: ReadingKey
    case: BlindCase
    options: tuple[str, ...]
    exam: Exam
    training: bool
    reading: Reading | None
    feedback: TrainingResult | None
    draft: dict[str, Any]
    draft_revision: int
    times: tuple[float, float, float]
    progress: CaseCounts
    previous: int | None
    next: int | None
    upcoming_images: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingStop:
    """Why no case is shown now.

    One of: ``guideline`` (Markdown to read first), ``opens_at`` (the end of the wash-out), ``closed``, or all
    cases are read; ``result`` is then the reader's accuracy if the protocol shows it.
    """

    study: ReaderStudy
    reader: Reader
    progress: CaseCounts
    guideline: str | None = None
    opens_at: datetime | None = None
    closed: bool = False
    result: Proportion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyForReader:
    """A study in a reader's list."""

    study: ReaderStudy
    reader: Reader
    progress: CaseCounts
