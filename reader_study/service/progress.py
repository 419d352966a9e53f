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
from storage.reader_study.cases import blind_cases_of, slots_of
from storage.reader_study.readers import readers_of
from storage.reader_study.readings import readings_of
from storage.reader_study.studies import load_study


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProgress:
    """The progress of one reader: scored readings, repeats and training cases, done and in all.

    ``seconds_median`` is the median time of looking over the scored readings, in seconds; None without one.
    ``faulty`` counts the questions reported as faulty.
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


def study_progress(db: Session, *, by: Person, study: str) -> tuple[ReaderProgress, ...]:
    """Each reader's progress, in the order in which they were added; contains no answers and no keys."""
    require(by, Action.RUN_STUDY)
    found = load_study(db, name=study)
    kinds = {case.id: case.kind for case in blind_cases_of(db, study_id=found.id)}
    slots, readings = defaultdict(list), defaultdict(list)
    for slot in slots_of(db, study_id=found.id):
        slots[slot.reader_id].append(slot)
    for reading in readings_of(db, study_id=found.id):
        readings[reading.key.reader_id].append(reading)
    listed = []
    for reader in readers_of(db, study_id=found.id):
        mine = readings[reader.id]
        scored = [each for each in mine if kinds[each.key.case_id] is CaseKind.SCORED]
        first = [each for each in scored if not each.key.repeat]
        planned = slots[reader.id]
        of_kind = [(kinds[slot.case_id], bool(slot.repeat)) for slot in planned]
        total = of_kind.count((CaseKind.SCORED, False)) if planned else len(first)
        listed.append(
            ReaderProgress(
                reader=reader,
                done=len(first),
                total=total,
                repeats_done=len(scored) - len(first),
                repeats=of_kind.count((CaseKind.SCORED, True)) if planned else len(scored) - len(first),
                training_done=len(mine) - len(scored),
                training=of_kind.count((CaseKind.TRAINING, False)),
                seconds_median=median(each.seconds_looking for each in first) if first else None,
                cannot_determine=sum(each.cannot_determine for each in first),
                faulty=sum(bool(each.faulty) for each in mine),
                last_read_at=max((each.read_at for each in mine), default=None),
            )
        )
    return tuple(listed)


def faulty_questions(db: Session, *, by: Person, study: str) -> tuple[FaultyCase, ...]:
    """The questions that readers reported as faulty, by case and reader."""
    require(by, Action.RUN_STUDY)
    found = load_study(db, name=study)
    cases = {case.id: case for case in blind_cases_of(db, study_id=found.id)}
    names = {reader.id: reader.name for reader in readers_of(db, study_id=found.id)}
    reports = [
        FaultyCase(
            case=cases[reading.key.case_id].number,
            question_id=cases[reading.key.case_id].question_id,
            reader=names[reading.key.reader_id],
            answered=not reading.unanswered,
            why=reading.faulty,
        )
        for reading in readings_of(db, study_id=found.id)
        if reading.faulty
    ]
    return tuple(sorted(reports, key=lambda each: (each.case, each.reader)))
