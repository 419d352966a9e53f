"""Storage of the readers of a study. Each study has its own copy of a reader's profile."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import case, func, select
from sqlmodel import Session

from domain.studies import Reader, ReaderLevel, ReaderProfile, ReaderStudy
from storage.reader_study.studies import load_study
from storage.rows.studies import ReadingRow, SlotRow, StudyReaderRow


def add_reader(
    db: Session,
    *,
    study_id: int,
    name: str,
    display_name: str,
    person_id: int | None,
    profile: ReaderProfile,
    of_reference: bool = False,
    simulated: bool = False,
) -> Reader:
    """Add a reader to the study. The study must not already contain the name or the person."""
    row = StudyReaderRow(
        study_id=study_id,
        name=name,
        display_name=display_name,
        person_id=person_id,
        **_profile_columns(profile),
        of_reference=of_reference,
        simulated=simulated,
    )
    db.add(row)
    db.flush()
    return _reader_from_row(row)


def update_reader(db: Session, *, reader_id: int, profile: ReaderProfile, of_reference: bool) -> Reader:
    """Change the profile of a reader."""
    row = db.get_one(StudyReaderRow, reader_id)
    for name, value in _profile_columns(profile).items():
        setattr(row, name, value)
    row.of_reference = of_reference
    db.flush()
    return _reader_from_row(row)


def remove_reader(db: Session, *, reader_id: int) -> None:
    """Remove a reader who has no slots and no readings from the study."""
    db.delete(db.get_one(StudyReaderRow, reader_id))
    db.flush()


def set_guideline_read(db: Session, *, reader_id: int, now: datetime) -> None:
    """Record when the reader read the guideline. The first time is kept."""
    row = db.get_one(StudyReaderRow, reader_id)
    row.guideline_read_at = row.guideline_read_at or now
    db.flush()


def list_readers(db: Session, *, study_id: int) -> tuple[Reader, ...]:
    """Return every reader of the study, in the order in which they were added."""
    rows = db.execute(
        select(StudyReaderRow).where(StudyReaderRow.study_id == study_id).order_by(StudyReaderRow.id)
    ).scalars()
    return tuple(_reader_from_row(row) for row in rows)


def count_readers_by_study(db: Session) -> dict[int, tuple[int, int]]:
    """Return {study id: (number of readers, number of finished readers)}.

    A reader is finished if each of their slots has a reading. A reader with imported readings has no slots,
    and is finished with any reading.
    """
    is_slot_of_reader = SlotRow.reader_id == StudyReaderRow.id
    slot_has_reading = (
        select(ReadingRow.reader_id)
        .where(
            ReadingRow.reader_id == SlotRow.reader_id,
            ReadingRow.case_id == SlotRow.case_id,
            ReadingRow.arm == SlotRow.arm,
            ReadingRow.repeat == SlotRow.repeat,
        )
        .exists()
    )
    has_open_slot = select(SlotRow.reader_id).where(is_slot_of_reader, ~slot_has_reading).exists()
    has_reading = select(ReadingRow.reader_id).where(ReadingRow.reader_id == StudyReaderRow.id).exists()
    is_finished = case((has_reading & ~has_open_slot, 1), else_=0)
    statement = select(StudyReaderRow.study_id, func.count(), func.sum(is_finished)).group_by(
        StudyReaderRow.study_id
    )
    return {row[0]: (row[1], row[2]) for row in db.execute(statement)}


def find_reader(db: Session, *, study_id: int, person_id: int) -> Reader | None:
    """Return the person as a reader of the study; None if the person does not read in it."""
    row = db.execute(
        select(StudyReaderRow).where(
            StudyReaderRow.study_id == study_id, StudyReaderRow.person_id == person_id
        )
    ).scalar_one_or_none()
    return None if row is None else _reader_from_row(row)


def list_studies_of_person(db: Session, *, person_id: int) -> tuple[tuple[ReaderStudy, Reader], ...]:
    """Return the studies that the person reads in, each with their reader, the oldest first."""
    readers = db.execute(
        select(StudyReaderRow).where(StudyReaderRow.person_id == person_id).order_by(StudyReaderRow.study_id)
    ).scalars()
    return tuple((load_study(db, study_id=row.study_id), _reader_from_row(row)) for row in readers)


def find_latest_profile(db: Session, *, person_id: int) -> ReaderProfile | None:
    """Return the person's profile in their latest study; None if there is none."""
    row = db.execute(
        select(StudyReaderRow)
        .where(StudyReaderRow.person_id == person_id)
        .order_by(StudyReaderRow.id.desc())
        .limit(1)
    ).scalar_one_or_none()
    return None if row is None else _reader_from_row(row).profile


def _profile_columns(profile: ReaderProfile) -> dict[str, Any]:
    return {
        "level": profile.level.value if profile.level else None,
        "years": profile.years,
        "subspecialty": profile.subspecialty,
    }


def _reader_from_row(row: StudyReaderRow) -> Reader:
    return Reader(
        id=row.id or 0,
        study_id=row.study_id,
        name=row.name,
        display_name=row.display_name,
        person_id=row.person_id,
        profile=ReaderProfile(
            level=ReaderLevel(row.level) if row.level else None,
            years=row.years,
            subspecialty=row.subspecialty,
        ),
        of_reference=row.of_reference,
        simulated=row.simulated,
        guideline_read_at=row.guideline_read_at,
    )
