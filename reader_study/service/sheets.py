"""Services for showing cases to a reader; data that the reader may not see is not read."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlmodel import Session

from domain.errors import NotAllowed, NotFound, Refused
from domain.exams import Exam
from domain.people import Action, Person, require
from domain.readings import Reading, ReadingKey
from domain.studies import BlindCase, CaseKind, Reader, ReaderStudy, Slot, StudyState
from measures.proportions import Proportion, wilson
from reader_study.service.drawing import content_hash
from reader_study.sheet import (
    ReadingPlace,
    ReadingSheet,
    ReadingStop,
    StudyForReader,
    TrainingResult,
)
from review.sheet import StoredImage
from storage.images.radiographs import image_of, radiograph_keys
from storage.intake.exams import load_exam, load_untold_exam
from storage.reader_study import cases
from storage.reader_study import readers as study_readers
from storage.reader_study import readings as stored
from storage.reader_study.studies import current_protocol, load_study


def studies_for(db: Session, *, person: Person) -> list[StudyForReader]:
    """The studies in which the person is a reader, including closed ones, the oldest first."""
    require(person, Action.READ)
    return [
        StudyForReader(study=study, reader=reader, place=_place(db, reader))
        for study, reader in study_readers.studies_of_person(db, person_id=person.id)
    ]


def open_case(
    db: Session, *, person: Person, study_id: int, position: int | None = None, now: datetime
) -> ReadingSheet | ReadingStop:
    """Load a case for a reader.

    Args:
        db: a session that reads.
        person: the reader.
        study_id: the study.
        position: the place in the reader's order, from 1; None for the next open case.
        now: the time.

    Returns:
        The case, or why there is none now: closed, guideline not read, wash-out, or all cases read.

    Raises:
        NotFound: the person is no reader of the study, or has no case at that position.
        Refused: the case comes later, going back is not allowed, or the content has changed since the study
            was created.
    """
    require(person, Action.READ)
    study, reader = _theirs(db, person=person, study_id=study_id)
    protocol = current_protocol(db, study_id=study.id).protocol
    place = _place(db, reader)
    if study.state is StudyState.CLOSED:
        return ReadingStop(study=study, reader=reader, place=place, closed=True)
    if protocol.guideline.strip() and reader.guideline_read_at is None:
        return ReadingStop(study=study, reader=reader, place=place, guideline=protocol.guideline)
    coming = cases.open_slots(db, reader_id=reader.id, limit=2)
    slot = coming[0] if coming else None
    if position is not None and (slot is None or position != slot.position):
        slot = _earlier(db, reader, position, going_back=protocol.going_back)
    if slot is None:
        result = own_result_of(db, study=study, reader=reader) if protocol.show_own_result else None
        return ReadingStop(study=study, reader=reader, place=place, result=result)
    opens_at = period_opens_at(db, study=study, reader=reader, slot=slot)
    if opens_at is not None and opens_at > now:
        return ReadingStop(study=study, reader=reader, place=place, opens_at=opens_at)
    return _sheet(db, study, reader, slot, place, coming=coming)


def reading_at(db: Session, *, person: Person, study_id: int, position: int) -> Reading | None:
    """The person's latest answer at a position; None without one.

    Raises:
        NotFound: the person is no reader of the study.
    """
    require(person, Action.READ)
    _, reader = _theirs(db, person=person, study_id=study_id)
    slot = cases.slot_at(db, reader_id=reader.id, position=position)
    return None if slot is None else stored.last_reading(db, key=key_of(slot, study_id=study_id))


def is_training(db: Session, *, person: Person, study_id: int, position: int) -> bool:
    """Whether the case at a position of the person's order is a training case.

    Raises:
        NotFound: the person is no reader of the study.
    """
    require(person, Action.READ)
    _, reader = _theirs(db, person=person, study_id=study_id)
    slot = cases.slot_at(db, reader_id=reader.id, position=position)
    return slot is not None and cases.load_blind_case(db, case_id=slot.case_id).kind is CaseKind.TRAINING


def own_result_of(db: Session, *, study: ReaderStudy, reader: Reader) -> Proportion | None:
    """The reader's own accuracy over the scored cases; None while a case is open or without an answer."""
    if cases.open_slots(db, reader_id=reader.id):
        return None
    keys = {case.shown.id: case for case in cases.cases_of(db, study_id=study.id) if case.scored}
    first = [
        reading
        for reading in stored.readings_of(db, study_id=study.id, reader_id=reader.id)
        if reading.key.case_id in keys and not reading.key.repeat and not reading.unanswered
    ]
    right = sum(keys[reading.key.case_id].is_right(reading.answer) for reading in first)
    return wilson(right, len(first)) if first else None


def reading_image(db: Session, *, person: Person, exam_number: int, radiograph_key: str) -> StoredImage:
    """The image file of a radiograph, if the person may see it now.

    Readers may see the images of the current and the next case, of a training case just answered, and, if the
    protocol allows going back, of all answered cases.

    Raises:
        NotAllowed: the exam is none of these.
        NotFound: the exam has no such radiograph, or its image was not imported.
    """
    require(person, Action.READ)
    if not any(
        _may_see(db, study, reader, exam_number)
        for study, reader in study_readers.studies_of_person(db, person_id=person.id)
    ):
        raise NotAllowed(f"No case about exam {exam_number} is before {person.display_name} now.")
    found = image_of(db, exam_number=exam_number, radiograph_key=radiograph_key)
    if found is None:
        raise NotFound(f"Exam {exam_number} has no image for radiograph {radiograph_key!r}.")
    return StoredImage(sha256=found[0], media_type=found[1])


def period_opens_at(db: Session, *, study: ReaderStudy, reader: Reader, slot: Slot) -> datetime | None:
    """When the slot's period opens: the wash-out after the previous period's last reading; None if none."""
    if slot.period == 1 or not study.design.washout_days:
        return None
    last = stored.last_read_at(db, reader_id=reader.id, period=slot.period - 1)
    return None if last is None else last + timedelta(days=study.design.washout_days)


def key_of(slot: Slot, *, study_id: int) -> ReadingKey:
    """The key of the reading of a slot."""
    return ReadingKey(
        study_id=study_id, reader_id=slot.reader_id, case_id=slot.case_id, arm=slot.arm, repeat=slot.repeat
    )


def _theirs(db: Session, *, person: Person, study_id: int) -> tuple[ReaderStudy, Reader]:
    reader = study_readers.reader_of_person(db, study_id=study_id, person_id=person.id)
    if reader is None:
        raise NotFound(f"No reader study number {study_id} is {person.display_name}'s to read.")
    return load_study(db, study_id=study_id), reader


def _earlier(db: Session, reader: Reader, position: int, *, going_back: bool) -> Slot:
    """An answered slot: a training case, for its feedback, or a scored case to go back to."""
    slot = cases.slot_at(db, reader_id=reader.id, position=position)
    if slot is None:
        raise NotFound(f"There is no case at place {position} of your order.")
    case = cases.load_blind_case(db, case_id=slot.case_id)
    answered = stored.last_reading(db, key=key_of(slot, study_id=case.study_id)) is not None
    if not answered:
        raise Refused("That case comes later. Answer the one before you first.")
    if not going_back and case.kind is CaseKind.SCORED:
        raise Refused("This study does not allow going back to a case that is answered.")
    return slot


def _sheet(
    db: Session,
    study: ReaderStudy,
    reader: Reader,
    slot: Slot,
    place: ReadingPlace,
    *,
    coming: tuple[Slot, ...],
) -> ReadingSheet:
    protocol = current_protocol(db, study_id=study.id).protocol
    case = cases.load_blind_case(db, case_id=slot.case_id)
    arm, key = study.design.arm(slot.arm), key_of(slot, study_id=study.id)
    exam = _exam(db, case.exam_number, told=arm.told)
    if arm.told:  # without the clinical information the hash can't be compared
        _check_frozen(case, exam=exam)
    training = case.kind is CaseKind.TRAINING
    reading = stored.last_reading(db, key=key)
    feedback = None
    if training and reading is not None:  # the key is only read for an answered training case
        keyed = cases.load_case(db, case_id=case.id)
        feedback = TrainingResult(right=keyed.is_right(reading.answer), question=keyed.question)
    draft = stored.draft_of(db, key=key)
    after = [each for each in coming if each.position != slot.position]
    ahead = [cases.load_blind_case(db, case_id=each.case_id).exam_number for each in after[:1]]
    return ReadingSheet(
        study=study,
        reader=reader,
        protocol=protocol,
        arm=arm,
        slot=slot,
        key=key,
        case=case,
        options=tuple(case.options[index] for index in slot.option_order),
        exam=exam,
        training=training,
        reading=reading,
        feedback=feedback,
        draft=draft.body if draft else {},
        draft_revision=draft.revision if draft else 0,
        times=(draft.seconds, draft.seconds_looking, draft.seconds_away) if draft else (0.0, 0.0, 0.0),
        place=place,
        previous=_answered_before(db, study, reader, slot) if protocol.going_back else None,
        next=_next_of(slot, coming) if reading is not None else None,
        upcoming_images=radiograph_keys(db, exam_numbers=ahead),
    )


def _exam(db: Session, exam_number: int, *, told: bool) -> Exam:
    return load_exam(db, exam_id=exam_number) if told else load_untold_exam(db, exam_id=exam_number)


def _check_frozen(case: BlindCase, *, exam: Exam) -> None:
    if content_hash(question=case, exam=exam) != case.sha256:
        raise Refused(
            "What this case shows was changed since the study was made, so it can't be read. "
            "Tell a coordinator."
        )


def _answered_before(db: Session, study: ReaderStudy, reader: Reader, slot: Slot) -> int | None:
    """The position of the answered scored case just before; a reader can't go back to training cases."""
    before = cases.slot_at(db, reader_id=reader.id, position=slot.position - 1)
    if before is None:
        return None
    case = cases.load_blind_case(db, case_id=before.case_id)
    answered = stored.last_reading(db, key=key_of(before, study_id=study.id)) is not None
    return before.position if answered and case.kind is CaseKind.SCORED else None


def _next_of(slot: Slot, coming: tuple[Slot, ...]) -> int | None:
    return min(coming[0].position, slot.position + 1) if coming else slot.position + 1


def _may_see(db: Session, study: ReaderStudy, reader: Reader, exam_number: int) -> bool:
    if study.state is StudyState.CLOSED:
        return False
    for slot in cases.open_slots(db, reader_id=reader.id, limit=2):
        if cases.load_blind_case(db, case_id=slot.case_id).exam_number == exam_number:
            return True
    protocol = current_protocol(db, study_id=study.id).protocol
    if protocol.going_back:
        return stored.readings_on_exam(db, reader_id=reader.id, exam_number=exam_number)
    return _is_at_hand(db, reader, exam_number)


def _is_at_hand(db: Session, reader: Reader, exam_number: int) -> bool:
    """Whether the exam is that of a training case just answered, which stays visible for its feedback."""
    position = stored.last_read_position(db, reader_id=reader.id)
    slot = None if position is None else cases.slot_at(db, reader_id=reader.id, position=position)
    if slot is None:
        return False
    case = cases.load_blind_case(db, case_id=slot.case_id)
    return case.kind is CaseKind.TRAINING and case.exam_number == exam_number


def _place(db: Session, reader: Reader) -> ReadingPlace:
    kinds = {case.id: case.kind for case in cases.blind_cases_of(db, study_id=reader.study_id)}
    slots = cases.slots_of(db, reader_id=reader.id)
    read = {
        (reading.key.case_id, reading.key.arm, reading.key.repeat)
        for reading in stored.readings_of(db, study_id=reader.study_id, reader_id=reader.id)
    }
    counts = {(kind, done): 0 for kind in CaseKind for done in (True, False)}
    for slot in slots:
        counts[kinds[slot.case_id], (slot.case_id, slot.arm, slot.repeat) in read] += 1
    scored, training = (
        (counts[kind, True], counts[kind, True] + counts[kind, False])
        for kind in (CaseKind.SCORED, CaseKind.TRAINING)
    )
    return ReadingPlace(done=scored[0], total=scored[1], training_done=training[0], training=training[1])
