"""Service for importing readings from a file: all of them, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from sqlmodel import Session

from accounts.service.audit import record
from domain.errors import Refused
from domain.people import Action, Person, require
from domain.problems import Refusal
from domain.readings import Reading, ReadingKey
from domain.studies import BlindCase, Reader, ReaderProfile, ReaderStudy, StudyState
from reader_study.readings_file import NotAnAnswer, ReadingRecord, answer_of, read_records
from reader_study.readings_process import guarded_readings
from storage.reader_study import readers as study_readers
from storage.reader_study.cases import blind_cases_of
from storage.reader_study.readings import add_readings, readings_of
from storage.reader_study.studies import current_protocol, load_study

#: Readings per statement; one by one, others could not save for up to a minute.
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
    faults, answers = _faults(records, study=found, file=file, cases=cases, readers=readers, known=known)
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
            _reading(each, key=key, answer=answers[each.line], place=places[reader.id], version=version)
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


def _reading(each: ReadingRecord, *, key: ReadingKey, answer: object, place: int, version: int) -> Reading:
    return Reading(
        key=key,
        revision=1,
        position=place,
        protocol_version=version,
        answer=answer,  # type: ignore[arg-type]  # answer_of gave it
        cannot_determine=answer is None,
        confidence=each.confidence,
        seconds=each.seconds,
        seconds_looking=each.seconds,
        seconds_away=0.0,
        began_at=each.read_at - timedelta(seconds=each.seconds),
        read_at=each.read_at,
        outside=True,
    )


def _faults(
    records: list[ReadingRecord],
    *,
    study: ReaderStudy,
    file: str,
    cases: dict[str, BlindCase],
    readers: dict[str, Reader],
    known: Counter[tuple[int, int]],
) -> tuple[list[Refusal], dict[int, object]]:
    """The refusals, and the answers of the accepted records by line."""
    faults: list[Refusal] = []
    answers: dict[int, object] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for each in records:
        case, reader = cases.get(each.question_id), readers.get(each.reader)
        seen[each.reader, each.question_id] += 1
        before = known[reader.id, case.id] if reader and case else 0
        fault: tuple[str, str] | None = None
        if each.study != study.name:
            fault = ("study", f"{each.study!r} is not {study.name!r}")
        elif case is None:
            fault = ("question_id", f"{each.question_id!r} is no case of the study {study.name}")
        elif reader is not None and not reader.outside:
            fault = ("reader", f"{each.reader} reads on the screen; a file can't answer in their name")
        elif seen[each.reader, each.question_id] + before > 2:
            fault = ("question_id", f"{each.reader} has answered {each.question_id!r} twice already")
        else:
            try:
                answers[each.line] = answer_of(each.answer, case=case)
            except NotAnAnswer as error:
                fault = ("answer", str(error))
        if fault:
            faults.append(Refusal(file=file, record=str(each.line), field=fault[0], reason=fault[1]))
    return faults, answers


def _by_line(refusal: Refusal) -> int:
    return int(refusal.record)
