"""What the audit trail records about verdicts, own answers, skips and report openings.

An entry holds every column of the row, so a row that was altered outside the app differs from its entry.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from domain.image_display import ImageDisplay
from domain.verdicts import OwnAnswer
from records.values import to_plain

GIVE_VERDICT = "give verdict"
COMMIT_OWN_ANSWER = "commit own answer"
SKIP_QUESTION = "skip question"
OPEN_REPORT = "open report"


def question_subject(*, batch_id: int, question_number: int) -> str:
    """Return the name of a batch's question in the audit trail."""
    return f"batch {batch_id} question {question_number}"


def own_answer_to_plain(own: OwnAnswer) -> dict[str, Any]:
    """Return the answer (None: cannot determine), the confidence and the time."""
    return {
        "answer": None if own.answer is None else to_plain(own.answer),
        "confidence": own.confidence,
        "committed_at": own.committed_at,
        **image_display_to_plain(own.image),
    }


def skip_to_plain(*, number: int, reason: str, skipped_at: datetime) -> dict[str, Any]:
    """Return the number of the skip (counted from 1 per question), its reason and time."""
    return {"number": number, "reason": reason, "skipped_at": skipped_at}


def report_opening_to_plain(
    *, image_alignment: int, opened_at: datetime, image: ImageDisplay | None
) -> dict[str, Any]:
    """Return the image alignment that the opening locks, and the time of the opening."""
    return {"image_alignment": image_alignment, "opened_at": opened_at, **image_display_to_plain(image)}


def image_display_to_plain(image: ImageDisplay | None) -> dict[str, str]:
    """Return whether the radiographs were on screen; empty if that was not recorded."""
    return {} if image is None else {"image": image.value}
