"""Errata: problems that people report in released questions, and how adjudicators settle them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.adjudications import Adjudication
from domain.corrections import Change, apply_correction, diff_questions
from domain.errors import InvalidValue
from domain.questions import Question
from domain.verdicts import Decision, ErrorKind

MAX_TEXT_LENGTH = 2_000


class ErratumStatus(StrEnum):
    """What became of a report.

    OPEN: no adjudication since the report.
    CORRECTED: the adjudicated question differs from the released one.
    WITHDRAWN: the adjudicator rejected the question, so the next release does not have it.
    REJECTED: the adjudicator kept the question as it was released.
    """

    OPEN = "open"
    CORRECTED = "corrected"
    WITHDRAWN = "withdrawn"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErratumReport:
    """A problem that a person reported in a question of a release.

    ``released`` is the question as the release has it, with its key. ``side`` is its split there.
    ``reported_by`` is the display name of the person; None if the command line was used.
    """

    id: int
    release_id: int
    release: str
    dataset: str
    question_row_id: int
    question_id: str
    side: str
    kind: ErrorKind
    text: str
    released: Question
    reporter_id: int | None
    reported_by: str | None
    reported_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """How a report was settled: ``changes`` from the released question to the adjudicated one.

    ``changes`` is empty unless the status is CORRECTED.
    """

    status: ErratumStatus
    changes: tuple[Change, ...]
    adjudication: Adjudication


def settle_report(
    report: ErratumReport, *, imported: Question, adjudication: Adjudication | None
) -> Settlement | None:
    """Return how a report was settled; None if it is open.

    Args:
        report: the report.
        imported: the question as imported, to which corrections apply.
        adjudication: the latest adjudication of the question.
    """
    if adjudication is None or adjudication.given_at < report.reported_at:
        return None
    if adjudication.decision is Decision.REJECT:
        return Settlement(status=ErratumStatus.WITHDRAWN, changes=(), adjudication=adjudication)
    changes = diff_questions(report.released, apply_correction(imported, adjudication.correction))
    status = ErratumStatus.CORRECTED if changes else ErratumStatus.REJECTED
    return Settlement(status=status, changes=changes, adjudication=adjudication)


def check_report_text(text: str) -> str:
    """Return the text of a report without space at its ends.

    Raises:
        InvalidValue: the text is empty, too long, or has control characters.
    """
    text = text.strip()
    if not text:
        raise InvalidValue("description", "is empty; describe the problem")
    if len(text) > MAX_TEXT_LENGTH:
        raise InvalidValue(
            "description", f"has {len(text):,} characters; at most {MAX_TEXT_LENGTH:,} are stored"
        )
    if not all(char.isprintable() or char in "\n\t" for char in text):
        raise InvalidValue("description", "must not have control characters")
    return text
