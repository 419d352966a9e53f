"""Service for importing readings from a file: all of them, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlmodel import Session

from accounts.service.audit import record
from domain.errors import Refused
from domain.people import Action, Person, require
from domain.problems import Refusal
from domain.readings import Reading, ReadingKey
from domain.studies import ReaderProfile, StudyState
from reader_study.readings_file import check_records, read_records, reading_of_record
from reader_study.readings_process import guarded_readings
from storage.reader_study import readers as study_readers
from storage.reader_study.cases import blind_cases_of
from storage.reader_study.readings import add_readings, readings_of
from storage.reader_study.studies import current_protocol, load_study

#: Readings per statement; with one statement each, other writers would wait for up to a minute.
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideReadings:
    """The result of an import; if there are ``refusals``, nothing was imported."""

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
    """Import the readings of people without an account, under the names in the file. Locks the study.

    The first record of a reader and question is the reading, the second a repeat; ``read_at`` gives the
    order. Records of a reader with an account in the study are refused.

    Args:
        db: a session that writes.
        by: who acts.
        study: its name.
        content: the path of a user's file, which a separate process parses; or bytes made by this program.
        file: its name, for refusals and the audit trail.
        simulated: whether new readers are marked as simulated.
        now: the time.
        progress: called with the number of readings written and of all.

    Returns:
        The counts, or the refusals by line; a refusal is not an exception.

    Raises:
        NotFound: there is no such study.
        Refused: the study is closed.
    """
    require(by, Action.RUN_STUDY)
    found = load_study(db, name=study, lock=True)
    if found.state is StudyState.CLOSED:
        raise Refused(f"The study {study} is closed. Open it again first.")
    if isinstance(content, Path):
        records, refusals = guarded_readings(content, file=file)
    else:
        records, refusals = read_records(content, file=file)
    cases = {case.question_id: case for case in blind_cases_of(db, study_id=found.id)}
    readers = {reader.name: reader for reader in study_readers.readers_of(db, study_id=found.id)}
    known = Counter(
        (reading.key.reader_id, reading.key.case_id) for reading in readings_of(db, study_id=found.id)
    )
    faults, answers = check_records(
        records, study=found, file=file, cases=cases, readers=readers, known=known
    )
    refusals += faults
    if not records and not refusals:
        refusals = [Refusal(file=file, record="1", field="", reason="holds no reading")]
    if refusals:
        return OutsideReadings(readings=0, readers=(), refusals=tuple(sorted(refusals, key=_by_line)))
    names = list(dict.fromkeys(each.reader for each in records))
    for name in names:
        if name not in readers:
            readers[name] = study_readers.add_reader(
                db,
                study_id=found.id,
                name=name,
                display_name=name,
                person_id=None,
                profile=ReaderProfile(),
                simulated=simulated,
            )
    version = current_protocol(db, study_id=found.id).version
    places: Counter[int] = Counter()
    for reading in readings_of(db, study_id=found.id):
        places[reading.key.reader_id] += 1
    made: list[Reading] = []
    for each in sorted(records, key=lambda each: (each.read_at, each.line)):
        reader, case = readers[each.reader], cases[each.question_id]
        places[reader.id] += 1
        key = ReadingKey(
            study_id=found.id,
            reader_id=reader.id,
            case_id=case.id,
            arm=found.design.arms[0].name,
            repeat=known[reader.id, case.id],
        )
        known[reader.id, case.id] += 1
        made.append(
            reading_of_record(
                each, key=key, answer=answers[each.line], place=places[reader.id], version=version
            )
        )
    for start in range(0, len(made), _AT_ONCE):
        if progress is not None:
            progress(start, len(made))
        add_readings(db, readings=made[start : start + _AT_ONCE])
    record(
        db,
        by=by,
        what="import readings",
        subject=f"study {found.id}",
        new={"file": file, "readings": len(records), "readers": names},
        now=now,
    )
    return OutsideReadings(readings=len(records), readers=tuple(names), refusals=())


def _by_line(refusal: Refusal) -> int:
    return int(refusal.record)
