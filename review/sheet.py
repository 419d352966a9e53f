"""What one reviewer sees: a question to judge with all that belongs to it, and the batches to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from domain.batches import Batch
from domain.exams import Exam
from domain.questions import Question
from domain.sheets import BlindQuestion
from domain.verdicts import OwnAnswer, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a reviewer is in a batch, in questions; withdrawn ones don't count.

    ``position`` is the current question's, counted from 1; None where no question is open.
    """

    done: int
    skipped: int
    left: int
    total: int
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Seconds on a question so far: in all, looking (image drawn, page visible), and away."""

    seconds: float = 0.0
    seconds_looking: float = 0.0
    seconds_away: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSheet:
    """One question as it lies before a reviewer.

    While ``blind``, ``question`` is None and nothing that gives the answer away was fetched. ``drafts``
    are the parts of the form as last kept: (revision, plain JSON). ``last_verdict`` is the reviewer's own
    latest; a new one has its revision plus 1. ``skipped`` is the reason of a question put aside.
    ``fixed_alignment`` is the image alignment rated before the report was opened: it stays. ``previous``
    and ``next`` are numbers of the neighbouring questions, whatever their state. ``upcoming_images`` are
    (exam number, radiograph id) of the exams that come next, to be fetched ahead.
    """

    batch: Batch
    question_number: int
    exam_number: int
    exam: Exam
    blind: bool
    stem_only: BlindQuestion
    question: Question | None
    own_answer: OwnAnswer | None
    drafts: dict[str, tuple[int, Any]]
    last_verdict: Verdict | None
    skipped: str | None
    report_open: bool
    report: str | None
    fixed_alignment: int | None
    look: Look
    place: Place
    previous: int | None
    next: int | None
    upcoming_images: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchForReviewer:
    """A batch in a reviewer's list. ``seconds_median``: looking, until the first verdict; None before any."""

    batch: Batch
    place: Place
    seconds_median: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """An original image file of the workspace."""

    sha256: str
    media_type: str
