"""What the audit trail says of a verdict, an own answer, a skip, a report opening: every column of the row.

So a row that was altered behind the app's back no longer says what its entry says.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from domain.verdicts import RATING_NAMES, OwnAnswer, Verdict
from storage.codec import answer_to_plain, correction_to_plain

GIVE_VERDICT = "give verdict"
COMMIT_OWN_ANSWER = "commit own answer"
SKIP_QUESTION = "skip question"
OPEN_REPORT = "open report"

_YES_NO_FIELDS = ("domain_specific", "cognitive_depth", "image_centric", "clinically_relevant")


def question_subject(*, batch_id: int, question_number: int) -> str:
    """How the audit trail names a question of a batch."""
    return f"batch {batch_id} question {question_number}"


def recorded_verdict(verdict: Verdict) -> dict[str, Any]:
    """Revision, decision, the whole opinion and the times, as plain JSON."""
    opinion = verdict.opinion
    return {
        "revision": verdict.revision,
        "decision": verdict.decision.value,
        **{name: getattr(opinion.ratings, name) for name in RATING_NAMES},
        **{name: getattr(opinion, name) for name in _YES_NO_FIELDS},
        "difficulty": opinion.difficulty.value if opinion.difficulty else None,
        "errors": sorted(each.value for each in opinion.errors),
        "correction": correction_to_plain(opinion.correction),
        "clinical_reasoning": opinion.clinical_reasoning,
        "comment": opinion.comment,
        "why": verdict.why,
        "seconds": float(verdict.seconds),
        "seconds_looking": float(verdict.seconds_looking),
        "seconds_away": float(verdict.seconds_away),
        "given_at": verdict.given_at,
    }


def recorded_own_answer(own: OwnAnswer) -> dict[str, Any]:
    """Answer (None: cannot determine), confidence and time."""
    return {
        "answer": None if own.answer is None else answer_to_plain(own.answer),
        "confidence": own.confidence,
        "committed_at": own.committed_at,
    }


def recorded_skip(*, number: int, reason: str, skipped_at: datetime) -> dict[str, Any]:
    """Which skip of that question it is, counted from 1, its reason and time."""
    return {"number": number, "reason": reason, "skipped_at": skipped_at}


def recorded_opening(*, image_alignment: int, opened_at: datetime) -> dict[str, Any]:
    """The image alignment that the opening fixes, and its time."""
    return {"image_alignment": image_alignment, "opened_at": opened_at}
