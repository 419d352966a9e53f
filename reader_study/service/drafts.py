"""Services that store a reader's data before the answer: guideline read, drafts, and times."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound, StaleRevision
from domain.people import Action, Person, require
from reader_study.service.locked_case import check_open, lock_case
from storage.reader_study import readers as study_readers
from storage.reader_study import readings as reading_storage


def record_guideline_read(db: Session, *, person: Person, study_id: int, now: datetime) -> None:
    """Store that the person has read the guideline. Only the first time is stored.

    Raises:
        NotFound: the person is not a reader of the study.
    """
    require(person, Action.READ)
    reader = study_readers.find_reader(db, study_id=study_id, person_id=person.id)
    if reader is None:
        raise NotFound(f"{person.display_name} is not a reader of reader study {study_id}.")
    if reader.guideline_read_at is not None:
        return
    study_readers.set_guideline_read(db, reader_id=reader.id, now=now)
    record_action(
        db, by=person, action="read guideline", subject=f"study {study_id} reader {reader.id}", now=now
    )


def save_reading_draft(  # allow writes-without-record: a draft is not an answer yet
    db: Session,
    *,
    person: Person,
    study_id: int,
    position: int,
    revision: int,
    body: dict[str, Any],
    now: datetime,
) -> int:
    """Store a draft of an answer.

    Args:
        db: a session for writing.
        person: the reader.
        study_id: the id of the study.
        position: the position in the reader's order, from 1.
        revision: the revision of the draft that the form was opened with; 0 if there was none.
        body: the content of the draft.
        now: the current time.

    Returns:
        The new revision of the draft. A repeated request with the same content returns the same revision.

    Raises:
        NotFound: the person has no case at this position.
        StaleRevision: the draft was changed in another tab, or the case was answered.
        Refused: the study is closed.
    """
    require(person, Action.READ)
    locked = lock_case(db, person=person, study_id=study_id, position=position)
    draft = reading_storage.find_draft(db, key=locked.reading_key)
    current_revision = draft.revision if draft else 0
    if draft is not None and current_revision == revision + 1 and draft.body == body:
        return current_revision
    if current_revision != revision:
        raise StaleRevision(
            f"The draft was not saved: its revision is {current_revision}, but this form has {revision}. It "
            "was changed or answered in another tab or window. Reload the page."
        )
    check_open(locked)
    reading_storage.save_draft(db, key=locked.reading_key, revision=revision + 1, body=body, now=now)
    return revision + 1


def record_reading_time(  # allow writes-without-record: reading times are not answers
    db: Session,
    *,
    person: Person,
    study_id: int,
    position: int,
    seconds: float,
    seconds_looking: float,
    seconds_away: float,
    now: datetime,
) -> None:
    """Store the times spent on a case so far, in seconds. A stored time never decreases.

    Raises:
        NotFound: the person has no case at this position.
        InvalidValue: a time is negative or not finite.
    """
    require(person, Action.READ)
    for name, value in (("seconds", seconds), ("looking", seconds_looking), ("away", seconds_away)):
        if not 0 <= value < float("inf"):
            raise InvalidValue(name, f"must be 0 or more and finite, not {value!r}")
    locked = lock_case(db, person=person, study_id=study_id, position=position)
    reading_storage.save_times(
        db,
        key=locked.reading_key,
        seconds=seconds,
        seconds_looking=seconds_looking,
        seconds_away=seconds_away,
        now=now,
    )
