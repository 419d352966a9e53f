"""Service for a reader's answer: it is checked, stored once, and recorded in the audit trail."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlmodel import Session

from accounts.service.audit import record
from domain.errors import AlreadyThere, Refused, StaleRevision
from domain.image_display import recorded_display
from domain.people import Action, Person, require
from domain.readings import Reading
from domain.studies import CaseKind
from reader_study.answers import Said, check_reading, reading_of, same_answer
from reader_study.service.held import Held, check_open, hold_case
from reader_study.service.sheets import period_opens_at
from records.values import boxes_to_plain, to_plain
from storage.audit.contents import recorded_image
from storage.intake.exams import load_untold_exam
from storage.reader_study import cases
from storage.reader_study import readings as stored

GIVE_READING = "give reading"


def give_reading(
    db: Session,
    *,
    person: Person,
    study_id: int,
    position: int,
    revision: int,
    said: Said,
    now: datetime,
) -> Reading:
    """Store a reader's answer to a case; a later revision supersedes. Locks the study, deletes the draft.

    Args:
        db: a session that writes.
        person: the reader.
        study_id: the study.
        position: the place in the reader's order, from 1.
        revision: 1 for the first answer, otherwise the next number.
        said: the answer.
        now: the time.

    Returns:
        The reading as stored. The same revision with the same answer returns the first one, unchanged.

    Raises:
        NotFound: the person has no such case.
        StaleRevision: that revision is stored with another answer, or it is not the next one.
        Refused: the study is closed, the guideline was not read, an earlier case is open, going back is not
            allowed, the wash-out is not over, or the radiograph was not drawn and the reader has not
            confirmed that.
        InvalidValue: the answer does not fit the question, a required field is missing, or a box is not on
            the image.
    """
    require(person, Action.READ)
    held = hold_case(db, person=person, study_id=study_id, position=position)
    last = stored.last_reading(db, key=held.key)
    draft = stored.draft_of(db, key=held.key)
    reading = reading_of(
        said,
        slot=held.slot,
        key=held.key,
        version=held.version,
        revision=revision,
        began_at=draft.began_at if draft else now,
        now=now,
    )
    known = stored.reading_of_revision(db, key=held.key, revision=revision)
    if known is not None:
        if same_answer(known, reading):
            return known
        raise StaleRevision(_stale(held, known))
    if revision != (last.revision if last else 0) + 1:
        raise StaleRevision(_stale(held, last))
    _check_turn(db, held, last=last, now=now)
    exam = load_untold_exam(db, exam_id=held.case.exam_number)
    check_reading(reading, case=held.case, exam=exam, ask_confidence=held.protocol.ask_confidence)
    reading = replace(reading, image=recorded_display(reading.image, exam=exam))
    try:
        stored.add_reading(db, reading=reading)
    except AlreadyThere as error:
        first = stored.reading_of_revision(db, key=held.key, revision=revision)
        if first is not None and same_answer(first, reading):
            return first
        raise StaleRevision(_stale(held, first)) from error
    stored.clear_draft(db, key=held.key, revision=(draft.revision if draft else 0) + 1)
    record(
        db,
        by=person,
        what=GIVE_READING,
        subject=f"study {held.study.id} reader {held.reader.id} case {held.case.number}",
        old=_plain(last) if last else None,
        new=_plain(reading),
        now=now,
    )
    return reading


def _check_turn(db: Session, held: Held, *, last: Reading | None, now: datetime) -> None:
    check_open(held)
    if held.protocol.guideline.strip() and held.reader.guideline_read_at is None:
        raise Refused("Read the guideline first. It is shown when the study is opened.")
    if last is not None:
        if held.case.kind is CaseKind.TRAINING:
            raise Refused("The answer of this training case was shown already; it stays as you gave it.")
        if not held.protocol.going_back:
            raise Refused("This study does not allow going back to a case that is answered.")
        return
    following = cases.open_slots(db, reader_id=held.reader.id)
    if not following or following[0].position != held.slot.position:
        raise Refused("That case comes later. Answer the one before it first.")
    opens_at = period_opens_at(db, study=held.study, reader=held.reader, slot=held.slot)
    if opens_at is not None and opens_at > now:
        raise Refused(f"The second part opens on {opens_at:%Y-%m-%d %H:%M} UTC, after the days of wash-out.")


def _stale(held: Held, saved: Reading | None) -> str:
    if saved is None:
        return "Not saved: the answer before this one is gone. Reload the page."
    return (
        f"Not saved: this case was answered at {saved.read_at:%H:%M:%S} UTC already, in another tab or "
        f"window (revision {saved.revision}). Reload the page to go on with case {held.slot.position}."
    )


def _plain(reading: Reading) -> dict[str, Any]:
    """A reading in the audit trail: every column of its row."""
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
        **recorded_image(reading.image),
    }
