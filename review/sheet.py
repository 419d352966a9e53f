"""The data that a reviewer sees: a question to judge, and the list of batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from domain.batches import Batch
from domain.blind_questions import BlindQuestion
from domain.exams import Exam
from domain.questions import Question
from domain.verdicts import OwnAnswer, RecentVerdict, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerProgress:
    """A reviewer's progress in a batch, in questions; withdrawn ones do not count.

    ``position`` is the position of the current question, from 1; None if there is none.
    """

    done: int
    skipped: int
    left: int
    total: int
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewingTimes:
    """Times on a question so far, in seconds: in total, looking (image drawn, page visible), and away."""

    seconds: float = 0.0
    seconds_looking: float = 0.0
    seconds_away: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The feedback on a verdict: whether it agrees with the known answer, and the details of this answer.

    ``details`` are (heading, text).
    """

    is_correct: bool
    summary: str
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSheet:
    """One question as shown to a reviewer.

    While ``blind``, ``question`` is None, and nothing that reveals the answer was loaded from the database.
    ``drafts`` are the stored parts of the form: (revision, JSON value) by part. ``last_verdict`` is the
    reviewer's own latest verdict; a new one has the next revision. ``skipped`` is the reason if the question
    was skipped. ``fixed_alignment`` is the rating of image alignment before the report was opened; it cannot
    be changed. ``recent`` are the reviewer's last verdicts in this batch, newest first, one per question.
    ``feedback`` is the feedback on a practice question; None before the verdict and in other batches.
    ``comments`` and ``unread_comments`` count the comments of the reviewer's thread with the coordinators.
    ``previous`` and ``next`` are the row ids of the neighbouring questions in any state. ``upcoming_images``
    are (exam row id, radiograph id) of the next exams, for preloading.
    """

    batch: Batch
    question_row_id: int
    exam_row_id: int
    exam: Exam
    blind: bool
    stem_only: BlindQuestion
    question: Question | None
    own_answer: OwnAnswer | None
    drafts: dict[str, tuple[int, Any]]
    last_verdict: Verdict | None
    skipped: str | None
    recent: tuple[RecentVerdict, ...]
    report_open: bool
    report: str | None
    fixed_alignment: int | None
    viewing_times: ViewingTimes
    feedback: Feedback | None
    is_practice: bool
    comments: int
    unread_comments: int
    progress: ReviewerProgress
    previous: int | None
    next: int | None
    upcoming_images: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchListItem:
    """A batch in a reviewer's list.

    ``seconds_median`` is the median time of looking until the first verdict; None if there is none.
    ``is_locked`` is True if the batch requires a practice set that the reviewer has not passed.
    """

    batch: Batch
    progress: ReviewerProgress
    seconds_median: float | None
    is_practice: bool = False
    is_locked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImage:
    """An image file of the workspace."""

    sha256: str
    media_type: str
