"""The content of audit entries on judgements: verdicts, own answers, skips, adjudications, readings, marks.

An entry holds every column of its row, so verification finds rows that were changed outside the app.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from domain.adjudications import Adjudication
from domain.image_display import ImageDisplay
from domain.marks import MarkRevision
from domain.readings import Reading
from domain.verdicts import OwnAnswer
from records.values import boxes_to_plain, to_plain
from records.verdicts import correction_to_plain

GIVE_VERDICT = "give verdict"
COMMIT_OWN_ANSWER = "commit own answer"
SKIP_QUESTION = "skip question"
OPEN_REPORT = "open report"
ADJUDICATE = "adjudicate"
SUBMIT_READING = "give reading"
MARK_ANSWER = "mark answer"
#: The action of an entry with the digests of the tables; see ``storage.audit.coverage``.
TAKE_CHECKPOINT = "take checkpoint"


def question_subject(*, batch_id: int, question_row_id: int) -> str:
    """Return the subject of an entry about a question of a batch."""
    return f"batch {batch_id} question {question_row_id}"


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
    """Return the image alignment, which can't be changed after the opening, and the time of the opening."""
    return {"image_alignment": image_alignment, "opened_at": opened_at, **image_display_to_plain(image)}


def image_display_to_plain(image: ImageDisplay | None) -> dict[str, str]:
    """Return whether the radiographs were on screen; empty if that was not recorded."""
    return {} if image is None else {"image": image.value}


def adjudication_to_plain(adjudication: Adjudication) -> dict[str, Any]:
    """Return an adjudication without the question, the person, the reason and the time."""
    return {
        "revision": adjudication.revision,
        "decision": adjudication.decision.value,
        "correction": correction_to_plain(adjudication.correction),
        "follows": list(adjudication.follows),
        **image_display_to_plain(adjudication.image),
    }


def reading_to_plain(reading: Reading) -> dict[str, Any]:
    """Return a reading without the reader, the case, and the times of start and save."""
    return {
        "position": reading.position,
        "arm": reading.key.arm,
        "repeat": reading.key.repeat,
        "revision": reading.revision,
        "protocol_version": reading.protocol_version,
        "answer": None if reading.answer is None else to_plain(reading.answer),
        "cannot_determine": reading.cannot_determine,
        "faulty": reading.faulty,
        "confidence": reading.confidence,
        "boxes": boxes_to_plain(reading.boxes),
        "seconds": float(reading.seconds),
        "seconds_looking": float(reading.seconds_looking),
        "seconds_away": float(reading.seconds_away),
        **image_display_to_plain(reading.image),
    }


def mark_subject(*, study_id: int, case_number: int) -> str:
    """Return the subject of an entry about a mark: a case of a study."""
    return f"study {study_id} case {case_number}"


def mark_to_plain(revision: MarkRevision) -> dict[str, Any]:
    """Return a mark with the hash of the answer, without the study, the person and the time."""
    return {
        "answer_sha256": revision.answer.text_sha256,
        "marker": revision.role.value,
        "revision": revision.revision,
        "mark": None if revision.mark is None else revision.mark.value,
    }
