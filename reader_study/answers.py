"""Checks a reader's submitted answer and converts it to a reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.exams import Exam
from domain.image_display import ImageDisplay
from domain.questions import Answer, check_answer
from domain.readings import Reading, ReadingKey
from domain.studies import BlindCase, Slot
from domain.vocabulary import CONFIDENCE_VALUES

MAX_TEXT_LENGTH = 5_000  # characters of an open answer, or of a reported fault
MAX_BOXES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedAnswer:
    """A reader's answer as sent by the form. ``answer`` has indices of options in the displayed order."""

    answer: Answer | None
    cannot_determine: bool = False
    faulty: str = ""
    confidence: int | None = None
    boxes: tuple[LabelledBox, ...] = ()
    seconds: float = 0.0
    seconds_looking: float = 0.0
    seconds_away: float = 0.0
    image: ImageDisplay | None = None


def build_reading(
    submitted: SubmittedAnswer,
    *,
    slot: Slot,
    key: ReadingKey,
    version: int,
    revision: int,
    began_at: datetime,
    now: datetime,
) -> Reading:
    """Build the reading of an answer, with the indices of options in the question's own order.

    Args:
        submitted: the submitted answer.
        slot: the position in the reader's order.
        key: the key of the reading.
        version: the version of the protocol.
        revision: the revision of the reading, from 1.
        began_at: the time at which the case was opened.
        now: the current time.

    Raises:
        InvalidValue: the answer names an option that the case does not have.
    """
    answer = submitted.answer
    if isinstance(answer, tuple):
        if any(not 0 <= index < len(slot.option_order) for index in answer):
            raise InvalidValue("answer", f"{list(answer)} is not an option of this case")
        answer = tuple(sorted({slot.option_order[index] for index in answer}))
    elif isinstance(answer, str):
        answer = answer.strip()
    return Reading(
        key=key,
        revision=revision,
        position=slot.position,
        period=slot.period,
        protocol_version=version,
        answer=answer,
        cannot_determine=submitted.cannot_determine,
        faulty=submitted.faulty.strip(),
        confidence=submitted.confidence,
        boxes=submitted.boxes,
        seconds=submitted.seconds,
        seconds_looking=submitted.seconds_looking,
        seconds_away=submitted.seconds_away,
        began_at=began_at,
        read_at=now,
        image=submitted.image,
    )


def check_reading(reading: Reading, *, case: BlindCase, exam: Exam, ask_confidence: bool) -> None:
    """Check a reading against its case.

    Raises:
        InvalidValue: the answer does not fit the question, the confidence is missing, a text is too long, or
            a box is not requested or is outside the image.
    """
    if reading.answer is not None:
        check_answer(reading.answer, format_=case.format, options=case.options, field_name="answer")
        if case.format.is_free_text and len(reading.answer) > MAX_TEXT_LENGTH:
            raise InvalidValue("answer", f"has at most {MAX_TEXT_LENGTH:,} characters")
        if ask_confidence and reading.confidence is None:
            raise InvalidValue(
                "confidence", f"choose a confidence from {CONFIDENCE_VALUES[0]} to {CONFIDENCE_VALUES[-1]}"
            )
    if len(reading.faulty) > MAX_TEXT_LENGTH:
        raise InvalidValue("faulty", f"has at most {MAX_TEXT_LENGTH:,} characters")
    if not reading.boxes:
        return
    if not case.asks_box:
        raise InvalidValue("boxes", "this case does not ask for a box")
    if len(reading.boxes) > MAX_BOXES:
        raise InvalidValue("boxes", f"must be at most {MAX_BOXES}, not {len(reading.boxes)}")
    for labelled_box in reading.boxes:
        radiograph = exam.find_radiograph(labelled_box.radiograph)
        if radiograph.rows is None or radiograph.columns is None:
            raise InvalidValue("boxes", f"radiograph {labelled_box.radiograph!r} has no image")
        if not labelled_box.box.lies_within(rows=radiograph.rows, columns=radiograph.columns):
            raise InvalidValue("boxes", "a box is outside the image")


def is_same_answer(saved: Reading, submitted: Reading) -> bool:
    """Whether two readings have the same content. The times of a repeated request may differ."""
    return saved == replace(
        submitted,
        seconds=saved.seconds,
        seconds_looking=saved.seconds_looking,
        seconds_away=saved.seconds_away,
        began_at=saved.began_at,
        read_at=saved.read_at,
        protocol_version=saved.protocol_version,
        image=saved.image,
    )
