"""What one reader sees: a case to answer with what is told beforehand, or why there is none now."""

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
class ReadingPlace:
    """Where a reader is: cases answered of all, training cases apart; ``position`` counts from 1."""

    done: int
    total: int
    training_done: int
    training: int

    @property
    def left(self) -> int:
        """Cases that are still to be read, training cases too."""
        return self.total + self.training - self.done - self.training_done


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """What a training case shows once it is answered: right or not, and the question with its key."""

    right: bool
    question: Question


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSheet:
    """One case as it lies before a reader; nothing that answers it was fetched.

    ``exam`` has no report, and no indication, age or sex in an arm that is not told them. ``options`` are in
    the order of the slot. ``reading`` is the reader's own latest, where going back led here. ``feedback`` is
    there for a training case that is answered. ``times``: seconds, looking, away so far. ``upcoming_images``
    are (exam number, radiograph id) of the case that comes next.
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
    place: ReadingPlace
    previous: int | None
    next: int | None
    upcoming_images: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingStop:
    """Why no case is shown now.

    One of: ``guideline`` (Markdown to be read first), ``opens_at`` (the wash-out ends then), ``closed``, or
    all is read; then ``result`` is there where the protocol shows it.
    """

    study: ReaderStudy
    reader: Reader
    place: ReadingPlace
    guideline: str | None = None
    opens_at: datetime | None = None
    closed: bool = False
    result: Proportion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyForReader:
    """A study in a reader's list."""

    study: ReaderStudy
    reader: Reader
    place: ReadingPlace
