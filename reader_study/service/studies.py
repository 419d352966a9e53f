"""Services that create, list, close and reopen studies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.count_texts import count_text
from domain.errors import AlreadyThere, InvalidValue
from domain.mail import NoticeKind
from domain.people import Action, Person, require
from domain.protocols import Protocol, ProtocolVersion
from domain.studies import (
    MAX_NAME_LENGTH,
    CaseKind,
    CaseSource,
    Crossing,
    ReaderStudy,
    StudyDesign,
    StudyState,
)
from notifications.service import notify
from reader_study.service.case_sampling import draw_cases
from reader_study.service.protocols import create_protocol_version
from storage.reader_study import studies as study_storage
from storage.reader_study.cases import add_cases, count_cases
from storage.reader_study.readers import list_readers
from storage.reader_study.readings import count_readings
from storage.sampling import frames


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySummary:
    """A study in a list, with the numbers of its cases by kind, its readers and its answers."""

    study: ReaderStudy
    cases: dict[CaseKind, int]
    readers: int
    answers: int
    protocol: ProtocolVersion


def create_study(
    db: Session,
    *,
    by: Person,
    name: str,
    source: CaseSource,
    design: StudyDesign,
    protocol: Protocol,
    simulated: bool = False,
    now: datetime,
) -> ReaderStudy:
    """Create a study: draw and freeze its cases, store and hash its protocol.

    Raises:
        InvalidValue: the name is not valid.
        AlreadyThere: a study with this name exists.
        NotFound: the dataset, the batch or the release does not exist.
        Refused: no case can be drawn, too few cases are left for training, or the file of the release was
            changed.
    """
    require(by, Action.RUN_STUDY)
    name = name.strip()
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise InvalidValue("name", f"must have 1 to {MAX_NAME_LENGTH} printable characters")
    if study_storage.find_study(db, name=name) is not None:
        raise AlreadyThere(f"A reader study named {name!r} already exists. Choose another name.")
    dataset_id = frames.load_dataset_row_id(db, name=source.dataset)
    frames.lock_dataset(db, dataset_id=dataset_id)  # boxes of a drawn question must not change meanwhile
    cases = draw_cases(db, by=by, dataset_id=dataset_id, source=source, design=design)
    study_id = study_storage.add_study(
        db,
        name=name,
        dataset_id=dataset_id,
        source=source,
        design=design,
        simulated=simulated,
        by=by.id or None,
        now=now,
    )
    add_cases(db, study_id=study_id, cases=cases)
    version = create_protocol_version(study_id, 1, protocol, reason="", reading_count=0, by=by, now=now)
    study_storage.add_protocol(db, version=version)
    record_action(
        db,
        by=by,
        action="create study",
        subject=f"study {study_id}",
        new={
            "name": name,
            "source": str(source),
            "cases": len(cases),
            "design": study_storage.design_to_plain(design),
            "protocol_sha256": version.sha256,
        },
        now=now,
    )
    return study_storage.load_study(db, study_id=study_id)


def list_studies(db: Session, *, by: Person) -> list[StudySummary]:
    """Return all studies, the oldest first."""
    require(by, Action.RUN_STUDY)
    return [_summarise(db, study) for study in study_storage.list_studies(db)]


def load_study_summary(db: Session, *, by: Person, study: str) -> StudySummary:
    """Return the summary of one study.

    Raises:
        NotFound: the study does not exist.
    """
    require(by, Action.RUN_STUDY)
    return _summarise(db, study_storage.load_study(db, name=study))


def close_study(db: Session, *, by: Person, study: str, now: datetime) -> ReaderStudy:
    """Close a study, so that it accepts no readings. Does nothing if it is closed. Locks the study's row."""
    require(by, Action.RUN_STUDY)
    return _set_state(db, by=by, study=study, state=StudyState.CLOSED, now=now)


def reopen_study(db: Session, *, by: Person, study: str, now: datetime) -> ReaderStudy:
    """Reopen a closed study. Does nothing if it is open. Locks the study's row."""
    require(by, Action.RUN_STUDY)
    return _set_state(db, by=by, study=study, state=StudyState.OPEN, now=now)


def describe_design(design: StudyDesign) -> str:
    """Describe a design in one line for the user."""
    parts = [design.crossing.label]
    if design.crossing is Crossing.PARTS:
        parts.append(
            f"{count_text(design.readers_per_case or 0, 'reader')} per case, "
            f"{count_text(design.shared, 'case')} read by all"
        )
    if design.crossing is Crossing.CROSSOVER:
        parts.append(f"arms: {', '.join(arm.name for arm in design.arms)}")
        parts.append(f"wash-out of {count_text(design.washout_days, 'day')}")
    if design.training:
        parts.append(count_text(design.training, "training case"))
    if design.repeats:
        parts.append(
            f"{count_text(design.repeats, 'hidden repeat')} with a minimum gap of "
            f"{count_text(design.repeat_gap, 'case')}"
        )
    if design.one_per_exam:
        parts.append("one question per exam")
    if design.formats:
        parts.append(f"answer formats: {', '.join(format_.label for format_ in design.formats)}")
    return "; ".join([*parts, f"seed {design.plan.seed}"])


def _summarise(db: Session, study: ReaderStudy) -> StudySummary:
    return StudySummary(
        study=study,
        cases=count_cases(db, study_id=study.id),
        readers=len(list_readers(db, study_id=study.id)),
        answers=count_readings(db, study_id=study.id),
        protocol=study_storage.load_current_protocol(db, study_id=study.id),
    )


def _set_state(db: Session, *, by: Person, study: str, state: StudyState, now: datetime) -> ReaderStudy:
    loaded_study = study_storage.load_study(db, name=study, lock=True)
    if loaded_study.state is state:
        return loaded_study
    study_storage.set_study_state(db, study_id=loaded_study.id, state=state)
    action = "close study" if state is StudyState.CLOSED else "reopen study"
    record_action(
        db,
        by=by,
        action=action,
        subject=f"study {loaded_study.id}",
        old=loaded_study.state.value,
        new=state.value,
        now=now,
    )
    if state is StudyState.OPEN:
        reader_person_ids = [
            reader.person_id for reader in list_readers(db, study_id=loaded_study.id) if reader.person_id
        ]
        notify(
            db,
            by_id=by.id,
            person_ids=reader_person_ids,
            kind=NoticeKind.STUDY,
            name=loaded_study.name,
            path=f"read?study={loaded_study.id}",
            now=now,
        )
    return study_storage.load_study(db, study_id=loaded_study.id)
