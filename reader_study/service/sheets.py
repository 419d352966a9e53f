"""Services that show cases to a reader. Data that the reader must not see is not loaded."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlmodel import Session

from domain.errors import NotAllowed, NotFound, Refused
from domain.exams import Exam
from domain.people import Action, Person, require
from domain.readings import Reading, ReadingKey
from domain.studies import BlindCase, CaseKind, Reader, ReaderStudy, Slot, StudyState
from measures.proportions import Proportion, wilson
from reader_study.open_answers import build_scoring
from reader_study.service.case_sampling import hash_content
from reader_study.sheet import (
    CaseCounts,
    ReadingSheet,
    ReadingStop,
    StudyForReader,
    TrainingResult,
)
from review.sheet import StoredImage
from storage.images.radiographs import find_image, list_radiograph_keys
from storage.intake.exams import load_exam, load_exam_without_information
from storage.reader_study import cases
from storage.reader_study import readers as study_readers
from storage.reader_study import readings as reading_storage
from storage.reader_study.marks import list_latest_marks
from storage.reader_study.studies import load_current_protocol, load_study


def list_studies_for_reader(db: Session, *, person: Person) -> list[StudyForReader]:
    """Return the studies in which the person is a reader, including closed studies, the oldest first."""
    require(person, Action.READ)
    return [
        StudyForReader(study=study, reader=reader, progress=_count_cases(db, reader))
        for study, reader in study_readers.list_studies_of_person(db, person_id=person.id)
    ]


def open_case(
    db: Session, *, person: Person, study_id: int, position: int | None = None, now: datetime
) -> ReadingSheet | ReadingStop:
    """Load a case for a reader.

    Args:
        db: a read-only session.
        person: the reader.
        study_id: the id of the study.
        position: the position in the reader's order, from 1; None for the next open case.
        now: the current time.

    Returns:
        The case, or the reason why no case is shown: the study is closed, the guideline was not read, the
        wash-out is not over, or all cases are read.

    Raises:
        NotFound: the person is not a reader of the study, or has no case at this position.
        Refused: earlier cases must be answered first, going back is not allowed, or the content has changed
            since the study was created.
    """
    require(person, Action.READ)
    study, reader = _load_own_study(db, person=person, study_id=study_id)
    protocol = load_current_protocol(db, study_id=study.id).protocol
    progress = _count_cases(db, reader)
    if study.state is StudyState.CLOSED:
        return ReadingStop(study=study, reader=reader, progress=progress, closed=True)
    if protocol.guideline.strip() and reader.guideline_read_at is None:
        return ReadingStop(study=study, reader=reader, progress=progress, guideline=protocol.guideline)
    open_slots = cases.list_open_slots(db, reader_id=reader.id, limit=2)
    slot = open_slots[0] if open_slots else None
    if position is not None and (slot is None or position != slot.position):
        slot = _find_answered_slot(db, reader, position, going_back=protocol.going_back)
    if slot is None:
        result = compute_own_result(db, study=study, reader=reader) if protocol.show_own_result else None
        return ReadingStop(study=study, reader=reader, progress=progress, result=result)
    opens_at = find_period_opening(db, study=study, reader=reader, slot=slot)
    if opens_at is not None and opens_at > now:
        return ReadingStop(study=study, reader=reader, progress=progress, opens_at=opens_at)
    return _build_sheet(db, study, reader, slot, progress, open_slots=open_slots)


def load_reading_at(db: Session, *, person: Person, study_id: int, position: int) -> Reading | None:
    """Return the person's latest answer at a position; None if there is none.

    Raises:
        NotFound: the person is not a reader of the study.
    """
    require(person, Action.READ)
    _, reader = _load_own_study(db, person=person, study_id=study_id)
    slot = cases.find_slot(db, reader_id=reader.id, position=position)
    return (
        None
        if slot is None
        else reading_storage.find_last_reading(db, key=build_reading_key(slot, study_id=study_id))
    )


def is_training_case(db: Session, *, person: Person, study_id: int, position: int) -> bool:
    """Whether the case at a position of the person's order is a training case.

    Raises:
        NotFound: the person is not a reader of the study.
    """
    require(person, Action.READ)
    _, reader = _load_own_study(db, person=person, study_id=study_id)
    slot = cases.find_slot(db, reader_id=reader.id, position=position)
    return slot is not None and cases.load_blind_case(db, case_id=slot.case_id).kind is CaseKind.TRAINING


def compute_own_result(db: Session, *, study: ReaderStudy, reader: Reader) -> Proportion | None:
    """Compute the reader's own accuracy on the scored cases; None if a case is open or no answer counts.

    Open answers that are not marked are not included.
    """
    if cases.list_open_slots(db, reader_id=reader.id):
        return None
    cases_by_id = {
        case.blind_case.id: case for case in cases.list_cases(db, study_id=study.id) if case.scored
    }
    first_readings = [
        reading
        for reading in reading_storage.iterate_readings(db, study_id=study.id, reader_id=reader.id)
        if reading.key.case_id in cases_by_id and not reading.key.repeat and not reading.unanswered
    ]
    scoring = build_scoring(
        load_current_protocol(db, study_id=study.id).protocol, list_latest_marks(db, study_id=study.id)
    )
    results = [
        scoring.is_correct(cases_by_id[reading.key.case_id], reading.answer) for reading in first_readings
    ]
    counted_results = [is_correct for is_correct in results if is_correct is not None]
    return wilson(sum(counted_results), len(counted_results)) if counted_results else None


def load_reading_image(db: Session, *, person: Person, exam_row_id: int, radiograph_key: str) -> StoredImage:
    """Return the image file of a radiograph, if the person may see it now.

    Readers may see the images of the current and the next case and of the training case that they answered
    last. If the protocol allows going back, they may see the images of all answered cases.

    Raises:
        NotAllowed: the person may not see the exam now.
        NotFound: the exam has no such radiograph, or its image was not imported.
    """
    require(person, Action.READ)
    if not any(
        _may_see(db, study, reader, exam_row_id)
        for study, reader in study_readers.list_studies_of_person(db, person_id=person.id)
    ):
        raise NotAllowed(f"{person.display_name} has no open case about exam {exam_row_id}.")
    return load_stored_image(db, exam_row_id=exam_row_id, radiograph_key=radiograph_key)


def load_stored_image(db: Session, *, exam_row_id: int, radiograph_key: str) -> StoredImage:
    """Return the image file of a radiograph. The caller checks whether the person may see it.

    Raises:
        NotFound: the exam has no such radiograph, or its image was not imported.
    """
    image = find_image(db, exam_row_id=exam_row_id, radiograph_key=radiograph_key)
    if image is None:
        raise NotFound(f"Exam {exam_row_id} has no image for radiograph {radiograph_key!r}.")
    return StoredImage(sha256=image[0], media_type=image[1])


def find_period_opening(db: Session, *, study: ReaderStudy, reader: Reader, slot: Slot) -> datetime | None:
    """Return when the wash-out before the slot's period ends; None if there is no wash-out."""
    if slot.period == 1 or not study.design.washout_days:
        return None
    last_read_at = reading_storage.find_last_read_at(db, reader_id=reader.id, period=slot.period - 1)
    return None if last_read_at is None else last_read_at + timedelta(days=study.design.washout_days)


def build_reading_key(slot: Slot, *, study_id: int) -> ReadingKey:
    """Return the key of the reading of a slot."""
    return ReadingKey(
        study_id=study_id, reader_id=slot.reader_id, case_id=slot.case_id, arm=slot.arm, repeat=slot.repeat
    )


def _load_own_study(db: Session, *, person: Person, study_id: int) -> tuple[ReaderStudy, Reader]:
    reader = study_readers.find_reader(db, study_id=study_id, person_id=person.id)
    if reader is None:
        raise NotFound(f"{person.display_name} is not a reader of reader study {study_id}.")
    return load_study(db, study_id=study_id), reader


def _find_answered_slot(db: Session, reader: Reader, position: int, *, going_back: bool) -> Slot:
    """Return an answered slot: a training case with its feedback, or a scored case to go back to."""
    slot = cases.find_slot(db, reader_id=reader.id, position=position)
    if slot is None:
        raise NotFound(f"This study has no case {position}.")
    case = cases.load_blind_case(db, case_id=slot.case_id)
    is_answered = (
        reading_storage.find_last_reading(db, key=build_reading_key(slot, study_id=case.study_id)) is not None
    )
    if not is_answered:
        raise Refused("Answer the earlier cases first.")
    if not going_back and case.kind is CaseKind.SCORED:
        raise Refused("In this study you cannot go back to answered cases.")
    return slot


def _build_sheet(
    db: Session,
    study: ReaderStudy,
    reader: Reader,
    slot: Slot,
    progress: CaseCounts,
    *,
    open_slots: tuple[Slot, ...],
) -> ReadingSheet:
    protocol = load_current_protocol(db, study_id=study.id).protocol
    case = cases.load_blind_case(db, case_id=slot.case_id)
    arm, key = study.design.find_arm(slot.arm), build_reading_key(slot, study_id=study.id)
    exam = _load_exam(db, case.exam_row_id, with_clinical_information=arm.clinical_info_shown)
    if arm.clinical_info_shown:  # the hash covers the clinical information
        _check_unchanged(case, exam=exam)
    is_training = case.kind is CaseKind.TRAINING
    reading = reading_storage.find_last_reading(db, key=key)
    feedback = None
    if is_training and reading is not None:  # the answer key is loaded for answered training cases only
        keyed_case = cases.load_case(db, case_id=case.id)
        is_correct = build_scoring(protocol, ()).is_correct(keyed_case, reading.answer)
        feedback = TrainingResult(correct=is_correct, question=keyed_case.question)
    draft = reading_storage.find_draft(db, key=key)
    later_slots = [open_slot for open_slot in open_slots if open_slot.position != slot.position]
    upcoming_exams = [
        cases.load_blind_case(db, case_id=open_slot.case_id).exam_row_id for open_slot in later_slots[:1]
    ]
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
        training=is_training,
        reading=reading,
        feedback=feedback,
        draft=draft.body if draft else {},
        draft_revision=draft.revision if draft else 0,
        times=(draft.seconds, draft.seconds_looking, draft.seconds_away) if draft else (0.0, 0.0, 0.0),
        progress=progress,
        previous=_find_previous_position(db, study, reader, slot) if protocol.going_back else None,
        next=_find_next_position(slot, open_slots) if reading is not None else None,
        upcoming_images=list_radiograph_keys(db, exam_row_ids=upcoming_exams),
    )


def _load_exam(db: Session, exam_row_id: int, *, with_clinical_information: bool) -> Exam:
    return (
        load_exam(db, exam_id=exam_row_id)
        if with_clinical_information
        else load_exam_without_information(db, exam_id=exam_row_id)
    )


def _check_unchanged(case: BlindCase, *, exam: Exam) -> None:
    if hash_content(question=case, exam=exam) != case.sha256:
        raise Refused(
            "This case was changed after the study was created, so it cannot be read. Inform a coordinator."
        )


def _find_previous_position(db: Session, study: ReaderStudy, reader: Reader, slot: Slot) -> int | None:
    """Return the previous position if it has an answered scored case. Training cases cannot be reopened."""
    previous_slot = cases.find_slot(db, reader_id=reader.id, position=slot.position - 1)
    if previous_slot is None:
        return None
    case = cases.load_blind_case(db, case_id=previous_slot.case_id)
    is_answered = (
        reading_storage.find_last_reading(db, key=build_reading_key(previous_slot, study_id=study.id))
        is not None
    )
    return previous_slot.position if is_answered and case.kind is CaseKind.SCORED else None


def _find_next_position(slot: Slot, open_slots: tuple[Slot, ...]) -> int | None:
    return min(open_slots[0].position, slot.position + 1) if open_slots else slot.position + 1


def _may_see(db: Session, study: ReaderStudy, reader: Reader, exam_row_id: int) -> bool:
    if study.state is StudyState.CLOSED:
        return False
    for slot in cases.list_open_slots(db, reader_id=reader.id, limit=2):
        if cases.load_blind_case(db, case_id=slot.case_id).exam_row_id == exam_row_id:
            return True
    protocol = load_current_protocol(db, study_id=study.id).protocol
    if protocol.going_back:
        return reading_storage.has_reading_on_exam(db, reader_id=reader.id, exam_row_id=exam_row_id)
    return _is_answered_training_exam(db, reader, exam_row_id)


def _is_answered_training_exam(db: Session, reader: Reader, exam_row_id: int) -> bool:
    """Whether the exam belongs to the training case answered last, which stays visible for its feedback."""
    position = reading_storage.find_last_read_position(db, reader_id=reader.id)
    slot = None if position is None else cases.find_slot(db, reader_id=reader.id, position=position)
    if slot is None:
        return False
    case = cases.load_blind_case(db, case_id=slot.case_id)
    return case.kind is CaseKind.TRAINING and case.exam_row_id == exam_row_id


def _count_cases(db: Session, reader: Reader) -> CaseCounts:
    kind_by_case = {case.id: case.kind for case in cases.list_blind_cases(db, study_id=reader.study_id)}
    slots = cases.list_slots(db, reader_id=reader.id)
    done_readings = {
        (reading.key.case_id, reading.key.arm, reading.key.repeat)
        for reading in reading_storage.iterate_readings(db, study_id=reader.study_id, reader_id=reader.id)
    }
    counts = {(kind, is_done): 0 for kind in CaseKind for is_done in (True, False)}
    for slot in slots:
        is_done = (slot.case_id, slot.arm, slot.repeat) in done_readings
        counts[kind_by_case[slot.case_id], is_done] += 1
    scored, training = (
        (counts[kind, True], counts[kind, True] + counts[kind, False])
        for kind in (CaseKind.SCORED, CaseKind.TRAINING)
    )
    return CaseCounts(done=scored[0], total=scored[1], training_done=training[0], training=training[1])
