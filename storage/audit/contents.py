"""What the audit trail says of a verdict, an own answer, a skip, a report opening: every column of the row.

So a row that was altered behind the app's back no longer says what its entry says.
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
    """How the audit trail names a question of a batch."""
    return f"batch {batch_id} question {question_number}"


def recorded_own_answer(own: OwnAnswer) -> dict[str, Any]:
    """Answer (None: cannot determine), confidence and time."""
    return {
        "answer": None if own.answer is None else to_plain(own.answer),
        "confidence": own.confidence,
        "committed_at": own.committed_at,
        **recorded_image(own.image),
    }


def recorded_skip(*, number: int, reason: str, skipped_at: datetime) -> dict[str, Any]:
    """Which skip of that question it is, counted from 1, its reason and time."""
    return {"number": number, "reason": reason, "skipped_at": skipped_at}


def recorded_opening(
    *, image_alignment: int, opened_at: datetime, image: ImageDisplay | None
) -> dict[str, Any]:
    """The image alignment that the opening fixes, and its time."""
    return {"image_alignment": image_alignment, "opened_at": opened_at, **recorded_image(image)}


def recorded_image(image: ImageDisplay | None) -> dict[str, str]:
    """Whether the radiographs were on screen; nothing where that was not recorded."""
    return {} if image is None else {"image": image.value}
