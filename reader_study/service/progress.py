"""Services for the progress of a study's readers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from sqlmodel import Session

from domain.people import Action, Person, require
from domain.studies import CaseKind, Reader
from reader_study.report.tables import FaultyCase
from storage.reader_study.cases import list_blind_cases, list_slots
from storage.reader_study.readers import count_readers_by_study, list_readers
from storage.reader_study.readings import iterate_readings
from storage.reader_study.studies import list_studies, load_study


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProgress:
    """The progress of one reader: the completed and the total scored readings, repeats and training cases.

    ``seconds_median`` is the median viewing time of the scored readings, in seconds; None without readings.
    ``faulty`` counts the questions that the reader reported as faulty.
    """

    reader: Reader
    done: int
    total: int
    repeats_done: int
    repeats: int
    training_done: int
    training: int
    seconds_median: float | None
    cannot_determine: int
    faulty: int
    last_read_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReaders:
    """A study with the number of its readers; ``finished`` of them have read all their cases."""

    name: str
    readers: int
    finished: int


def count_finished_readers(db: Session, *, by: Person) -> list[StudyReaders]:
    """Return all studies with the counts of their readers, the oldest study first."""
    require(by, Action.RUN_STUDY)
    counts = count_readers_by_study(db)
    return [
        StudyReaders(name=study.name, readers=readers, finished=finished)
        for study in list_studies(db)
        for readers, finished in [counts.get(study.id, (0, 0))]
    ]


def load_study_progress(db: Session, *, by: Person, study: str) -> tuple[ReaderProgress, ...]:
    """Return each reader's progress, without answers and keys, in the order in which readers were added."""
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study)
    kind_by_case = {case.id: case.kind for case in list_blind_cases(db, study_id=loaded_study.id)}
    slots_by_reader, readings_by_reader = defaultdict(list), defaultdict(list)
    for slot in list_slots(db, study_id=loaded_study.id):
        slots_by_reader[slot.reader_id].append(slot)
    for reading in iterate_readings(db, study_id=loaded_study.id):
        readings_by_reader[reading.key.reader_id].append(reading)
    progress = []
    for reader in list_readers(db, study_id=loaded_study.id):
        reader_readings = readings_by_reader[reader.id]
        scored_readings = [
            own_reading
            for own_reading in reader_readings
            if kind_by_case[own_reading.key.case_id] is CaseKind.SCORED
        ]
        first_readings = [own_reading for own_reading in scored_readings if not own_reading.key.repeat]
        reader_slots = slots_by_reader[reader.id]
        slot_kinds = [(kind_by_case[slot.case_id], bool(slot.repeat)) for slot in reader_slots]
        total = slot_kinds.count((CaseKind.SCORED, False)) if reader_slots else len(first_readings)
        progress.append(
            ReaderProgress(
                reader=reader,
                done=len(first_readings),
                total=total,
                repeats_done=len(scored_readings) - len(first_readings),
                repeats=slot_kinds.count((CaseKind.SCORED, True))
                if reader_slots
                else len(scored_readings) - len(first_readings),
                training_done=len(reader_readings) - len(scored_readings),
                training=slot_kinds.count((CaseKind.TRAINING, False)),
                seconds_median=median(own_reading.seconds_looking for own_reading in first_readings)
                if first_readings
                else None,
                cannot_determine=sum(own_reading.cannot_determine for own_reading in first_readings),
                faulty=sum(bool(own_reading.faulty) for own_reading in reader_readings),
                last_read_at=max((own_reading.read_at for own_reading in reader_readings), default=None),
            )
        )
    return tuple(progress)


def list_faulty_questions(db: Session, *, by: Person, study: str) -> tuple[FaultyCase, ...]:
    """Return the questions that readers reported as faulty, sorted by case and reader."""
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study)
    cases = {case.id: case for case in list_blind_cases(db, study_id=loaded_study.id)}
    names = {reader.id: reader.name for reader in list_readers(db, study_id=loaded_study.id)}
    reports = [
        FaultyCase(
            case=cases[reading.key.case_id].number,
            question_id=cases[reading.key.case_id].question_id,
            reader=names[reading.key.reader_id],
            answered=not reading.unanswered,
            why=reading.faulty,
        )
        for reading in iterate_readings(db, study_id=loaded_study.id)
        if reading.faulty
    ]
    return tuple(sorted(reports, key=lambda report: (report.case, report.reader)))
