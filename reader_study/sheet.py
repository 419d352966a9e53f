"""The data that a reader sees: a case, or the reason why no case is shown."""

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
    """A reader's progress: the answered and the total numbers of scored cases and of training cases."""

    done: int
    total: int
    training_done: int
    training: int

    @property
    def remaining(self) -> int:
        """The number of cases that are not yet read, including training cases."""
        return self.total + self.training - self.done - self.training_done


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """The feedback on a training case: whether the answer was correct, and the question with its key.

    ``correct`` is None for an open answer that differs from the key, because nobody marks training cases.
    """

    correct: bool | None
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSheet:
    """One case as shown to a reader, without data that reveals the answer.

    ``exam`` has no report, and no indication, age and sex in arms that do not show them. ``options`` are in
    the order of the slot. ``reading`` is the reader's latest answer; None if the case is not answered.
    ``feedback`` exists for answered training cases only. ``times`` are the seconds so far: in total, looking,
    and away. ``upcoming_images`` has (exam id, radiograph id) of the next case, for preloading.
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
    """The reason why no case is shown.

    It is ``guideline`` (Markdown that must be read first), ``opens_at`` (the end of the wash-out), or
    ``closed``. If none of them is set, all cases are read, and ``result`` is the reader's accuracy if the
    protocol shows it.
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
