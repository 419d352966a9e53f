"""Service that imports readings of external readers from a file: all of them, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import Refused
from domain.people import Action, Person, require
from domain.problems import Refusal
from domain.readings import Reading, ReadingKey
from domain.studies import ReaderProfile, StudyState
from reader_study.readings_file import build_outside_reading, check_records, read_records
from reader_study.readings_process import read_readings_in_process
from storage.reader_study import readers as study_readers
from storage.reader_study.cases import list_blind_cases
from storage.reader_study.readings import add_readings, iterate_readings
from storage.reader_study.studies import load_current_protocol, load_study

#: The number of readings per statement. One statement per reading would block other writers for up to a
#: minute.
_BATCH_SIZE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideReadings:
    """The result of an import. If there are ``refusals``, nothing was imported."""

    readings: int
    readers: tuple[str, ...]
    refusals: tuple[Refusal, ...]


def import_readings(
    db: Session,
    *,
    by: Person,
    study: str,
    content: bytes | Path,
    file: str,
    simulated: bool = False,
    now: datetime,
    progress: Callable[[int, int], None] | None = None,
) -> OutsideReadings:
    """Import the readings of people without an account, under the names in the file. Locks the study's row.

    The first record of a reader and question, by ``read_at``, is the reading; the second is a repeat. Records
    of readers with an account in the study are refused.

    Args:
        db: a session for writing.
        by: the acting person.
        study: the name of the study.
        content: the path of a user's file, which a separate process parses; or bytes made by this program.
        file: the file name, used in refusals and in the audit trail.
        simulated: whether new readers are marked as simulated.
        now: the current time.
        progress: a function that is called with the number of written readings and of all readings.

    Returns:
        The counts, or the refusals by line. Refusals raise no exception.

    Raises:
        NotFound: the study does not exist.
        Refused: the study is closed.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study, lock=True)
    if loaded_study.state is StudyState.CLOSED:
        raise Refused(f"The study {study} is closed. Reopen it first.")
    if isinstance(content, Path):
        records, refusals = read_readings_in_process(content, file=file)
    else:
        records, refusals = read_records(content, file=file)
    cases = {case.question_id: case for case in list_blind_cases(db, study_id=loaded_study.id)}
    readers = {reader.name: reader for reader in study_readers.list_readers(db, study_id=loaded_study.id)}
    reading_counts = Counter(
        (reading.key.reader_id, reading.key.case_id)
        for reading in iterate_readings(db, study_id=loaded_study.id)
    )
    mismatches, answers = check_records(
        records, study=loaded_study, file=file, cases=cases, readers=readers, stored_counts=reading_counts
    )
    refusals += mismatches
    if not records and not refusals:
        refusals = [Refusal(file=file, record="1", field="", reason="contains no readings")]
    if refusals:
        return OutsideReadings(readings=0, readers=(), refusals=tuple(sorted(refusals, key=_line_number)))
    names = list(dict.fromkeys(reading_record.reader for reading_record in records))
    for name in names:
        if name not in readers:
            readers[name] = study_readers.add_reader(
                db,
                study_id=loaded_study.id,
                name=name,
                display_name=name,
                person_id=None,
                profile=ReaderProfile(),
                simulated=simulated,
            )
    version = load_current_protocol(db, study_id=loaded_study.id).version
    last_positions: Counter[int] = Counter()
    for reading in iterate_readings(db, study_id=loaded_study.id):
        last_positions[reading.key.reader_id] += 1
    new_readings: list[Reading] = []
    for reading_record in sorted(records, key=lambda record: (record.read_at, record.line)):
        reader, case = readers[reading_record.reader], cases[reading_record.question_id]
        last_positions[reader.id] += 1
        key = ReadingKey(
            study_id=loaded_study.id,
            reader_id=reader.id,
            case_id=case.id,
            arm=loaded_study.design.arms[0].name,
            repeat=reading_counts[reader.id, case.id],
        )
        reading_counts[reader.id, case.id] += 1
        new_readings.append(
            build_outside_reading(
                reading_record,
                key=key,
                answer=answers[reading_record.line],
                position=last_positions[reader.id],
                version=version,
            )
        )
    for start in range(0, len(new_readings), _BATCH_SIZE):
        if progress is not None:
            progress(start, len(new_readings))
        add_readings(db, readings=new_readings[start : start + _BATCH_SIZE])
    record_action(
        db,
        by=by,
        action="import readings",
        subject=f"study {loaded_study.id}",
        new={"file": file, "readings": len(records), "readers": names},
        now=now,
    )
    return OutsideReadings(readings=len(records), readers=tuple(names), refusals=())


def _line_number(refusal: Refusal) -> int:
    return int(refusal.record)
