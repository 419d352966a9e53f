"""Loads a reader's case and locks its study for one transaction."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session

from domain.errors import NotFound, Refused
from domain.people import Person
from domain.protocols import Protocol
from domain.readings import ReadingKey
from domain.studies import BlindCase, Reader, ReaderStudy, Slot, StudyState
from reader_study.service.sheets import build_reading_key
from storage.reader_study import cases
from storage.reader_study import readers as study_readers
from storage.reader_study.studies import load_current_protocol, load_study, lock_study_shared


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedCase:
    """A reader's case, whose study is locked until the transaction ends."""

    study: ReaderStudy
    reader: Reader
    slot: Slot
    case: BlindCase
    reading_key: ReadingKey
    protocol: Protocol
    protocol_version: int


def lock_case(db: Session, *, person: Person, study_id: int, position: int) -> LockedCase:
    """Load the person's case at a position, and lock the study so that it cannot be closed meanwhile.

    Raises:
        NotFound: the person has no case at this position. The message does not reveal whether other readers
            have one.
    """
    reader = study_readers.find_reader(db, study_id=study_id, person_id=person.id)
    slot = None if reader is None else cases.find_slot(db, reader_id=reader.id, position=position)
    if reader is None or slot is None:
        raise NotFound(f"{person.display_name} has no case at this position in reader study {study_id}.")
    lock_study_shared(db, study_id=study_id)
    current_version = load_current_protocol(db, study_id=study_id)
    return LockedCase(
        study=load_study(db, study_id=study_id),
        reader=reader,
        slot=slot,
        case=cases.load_blind_case(db, case_id=slot.case_id),
        reading_key=build_reading_key(slot, study_id=study_id),
        protocol=current_version.protocol,
        protocol_version=current_version.version,
    )


def check_open(locked: LockedCase) -> None:
    """Check that the study is open.

    Raises:
        Refused: the study is closed.
    """
    if locked.study.state is StudyState.CLOSED:
        raise Refused("This study is closed and accepts no more readings. A coordinator can reopen it.")
