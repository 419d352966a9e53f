"""Service that checks a reader's answer, stores it once, and records it in the audit trail."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import AlreadyThere, Refused, StaleRevision
from domain.image_display import resolve_image_display
from domain.people import Action, Person, require
from domain.readings import Reading
from domain.studies import CaseKind
from reader_study.answers import SubmittedAnswer, build_reading, check_reading, is_same_answer
from reader_study.service.locked_case import LockedCase, check_open, lock_case
from reader_study.service.sheets import find_period_opening
from storage.audit.contents import SUBMIT_READING, reading_to_plain
from storage.intake.exams import load_exam_without_information
from storage.reader_study import cases
from storage.reader_study import readings as reading_storage


def submit_reading(
    db: Session,
    *,
    person: Person,
    study_id: int,
    position: int,
    revision: int,
    submitted: SubmittedAnswer,
    now: datetime,
) -> Reading:
    """Store a reader's answer to a case, or a later revision of it.

    Locks the study's row and deletes the draft.

    Args:
        db: a session for writing.
        person: the reader.
        study_id: the id of the study.
        position: the position in the reader's order, from 1.
        revision: 1 for the first answer, otherwise the next number.
        submitted: the answer.
        now: the current time.

    Returns:
        The stored reading. A repeated request with the same revision and answer returns the first reading.

    Raises:
        NotFound: the person has no case at this position.
        StaleRevision: the revision is stored with another answer, or is not the next revision.
        Refused: the study is closed, the guideline was not read, an earlier case is open, going back is not
            allowed, the wash-out is not over, or the radiograph was not displayed and the reader has not
            confirmed that.
        InvalidValue: the answer does not fit the question, a required field is missing, or a box is outside
            the image.
    """
    require(person, Action.READ)
    locked = lock_case(db, person=person, study_id=study_id, position=position)
    latest = reading_storage.find_last_reading(db, key=locked.reading_key)
    draft = reading_storage.find_draft(db, key=locked.reading_key)
    reading = build_reading(
        submitted,
        slot=locked.slot,
        key=locked.reading_key,
        version=locked.protocol_version,
        revision=revision,
        began_at=draft.began_at if draft else now,
        now=now,
    )
    existing = reading_storage.find_reading(db, key=locked.reading_key, revision=revision)
    if existing is not None:
        if is_same_answer(existing, reading):
            return existing
        raise StaleRevision(_describe_conflict(locked, existing))
    if revision != (latest.revision if latest else 0) + 1:
        raise StaleRevision(_describe_conflict(locked, latest))
    _check_allowed_now(db, locked, latest=latest, now=now)
    exam = load_exam_without_information(db, exam_id=locked.case.exam_row_id)
    check_reading(reading, case=locked.case, exam=exam, ask_confidence=locked.protocol.ask_confidence)
    reading = replace(reading, image=resolve_image_display(reading.image, exam=exam))
    try:
        reading_storage.add_reading(db, reading=reading)
    except AlreadyThere as error:
        concurrent = reading_storage.find_reading(db, key=locked.reading_key, revision=revision)
        if concurrent is not None and is_same_answer(concurrent, reading):
            return concurrent
        raise StaleRevision(_describe_conflict(locked, concurrent)) from error
    reading_storage.clear_draft(db, key=locked.reading_key, revision=(draft.revision if draft else 0) + 1)
    record_action(
        db,
        by=person,
        action=SUBMIT_READING,
        subject=f"study {locked.study.id} reader {locked.reader.id} case {locked.case.number}",
        old=reading_to_plain(latest) if latest else None,
        new=reading_to_plain(reading),
        now=now,
    )
    return reading


def _check_allowed_now(db: Session, locked: LockedCase, *, latest: Reading | None, now: datetime) -> None:
    check_open(locked)
    if locked.protocol.guideline.strip() and locked.reader.guideline_read_at is None:
        raise Refused("Read the guideline first. It is shown when you open the study.")
    if latest is not None:
        if locked.case.kind is CaseKind.TRAINING:
            raise Refused(
                "The feedback on this training case has been shown, so your answer cannot be changed."
            )
        if not locked.protocol.going_back:
            raise Refused("In this study you cannot go back to answered cases.")
        return
    open_slots = cases.list_open_slots(db, reader_id=locked.reader.id)
    if not open_slots or open_slots[0].position != locked.slot.position:
        raise Refused("Answer the earlier cases first.")
    opens_at = find_period_opening(db, study=locked.study, reader=locked.reader, slot=locked.slot)
    if opens_at is not None and opens_at > now:
        raise Refused(f"The second part opens on {opens_at:%Y-%m-%d %H:%M} UTC, after the wash-out period.")


def _describe_conflict(locked: LockedCase, saved: Reading | None) -> str:
    if saved is None:
        return "Not saved: the earlier answer to this case no longer exists. Reload the page."
    return (
        f"Not saved: this case was already answered at {saved.read_at:%H:%M:%S} UTC in another tab or window "
        f"(revision {saved.revision}). Reload the page to continue with case {locked.slot.position}."
    )
