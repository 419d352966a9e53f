"""Services for study protocols, whose versions are all kept, and for exclusions from the analysis."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import InvalidValue, Refused
from domain.people import Action, Person, require
from domain.protocols import READING_CONDITIONS, Protocol, ProtocolVersion, diff_protocols
from domain.studies import Exclusion
from reader_study.service.reading_orders import replace_reading_orders
from storage.reader_study import studies as study_storage
from storage.reader_study.cases import list_blind_cases
from storage.reader_study.readers import list_readers
from storage.reader_study.readings import count_readings


def change_protocol(
    db: Session, *, by: Person, study: str, protocol: Protocol, reason: str = "", now: datetime
) -> ProtocolVersion:
    """Add a version of the protocol. Locks the study's row.

    Before the first answer, everything can be changed. After it, the new version is an amendment: it must
    have a reason, and reading conditions cannot be changed. If the shuffling of options changes, the reading
    orders are computed again.

    Args:
        db: a session for writing.
        by: the acting person.
        study: the name of the study.
        protocol: the new protocol.
        reason: the reason, required after the first answer.
        now: the current time.

    Returns:
        The new version; the current version if nothing changes.

    Raises:
        NotFound: the study does not exist.
        Refused: a reading condition would change after the first answer, or the reason is missing.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study, lock=True)
    current_version = study_storage.load_current_protocol(db, study_id=loaded_study.id)
    changed = diff_protocols(current_version.protocol, protocol)
    if not changed:
        return current_version
    reading_count = count_readings(db, study_id=loaded_study.id)
    changed_conditions = [name for name, _, _ in changed if name in READING_CONDITIONS]
    if loaded_study.frozen and changed_conditions:
        raise Refused(
            "These reading conditions cannot be changed after the first answer: "
            f"{', '.join(changed_conditions).replace('_', ' ')}. Answers under different conditions are not "
            "comparable. Create another study."
        )
    if reading_count and not reason.strip():
        raise Refused("The study has answers, so this change is an amendment. Enter a reason.")
    version = create_protocol_version(
        loaded_study.id,
        current_version.version + 1,
        protocol,
        reason=reason.strip(),
        reading_count=reading_count,
        by=by,
        now=now,
    )
    study_storage.add_protocol(db, version=version)
    if not loaded_study.frozen and protocol.shuffle_options != current_version.protocol.shuffle_options:
        replace_reading_orders(db, study=loaded_study)
    record_action(
        db,
        by=by,
        action="change protocol",
        subject=f"study {loaded_study.id}",
        old={"version": current_version.version, "sha256": current_version.sha256}
        | {name: _to_plain(before) for name, before, _ in changed},
        new={"version": version.version, "sha256": version.sha256}
        | {name: _to_plain(after) for name, _, after in changed},
        reason=reason.strip(),
        now=now,
    )
    return version


def list_protocol_versions(db: Session, *, by: Person, study: str) -> tuple[ProtocolVersion, ...]:
    """Return all versions of the protocol, the oldest first."""
    require(by, Action.RUN_STUDY)
    return study_storage.list_protocols(db, study_id=study_storage.load_study(db, name=study).id)


def exclude_readings(
    db: Session,
    *,
    by: Person,
    study: str,
    case: int | None = None,
    reader: str | None = None,
    reason: str,
    now: datetime,
) -> Exclusion:
    """Exclude readings from the analysis.

    Args:
        db: a session for writing.
        by: the acting person.
        study: the name of the study.
        case: the number of the case in the study, from 1; None for all cases of the reader.
        reader: the name of the reader; None for all readers of the case.
        reason: the reason.
        now: the current time.

    Raises:
        NotFound: the study does not exist.
        InvalidValue: the case or the reader does not exist, neither is given, or the reason is missing.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study)
    case_id = reader_id = None
    if case is not None:
        case_ids_by_number = {
            blind_case.number: blind_case.id for blind_case in list_blind_cases(db, study_id=loaded_study.id)
        }
        if case not in case_ids_by_number:
            raise InvalidValue(
                "case", f"the study {study} has cases 1 to {len(case_ids_by_number)}, not {case}"
            )
        case_id = case_ids_by_number[case]
    if reader is not None:
        reader_ids_by_name = {
            study_reader.name: study_reader.id for study_reader in list_readers(db, study_id=loaded_study.id)
        }
        if reader not in reader_ids_by_name:
            names = ", ".join(reader_ids_by_name) or "none"
            raise InvalidValue("reader", f"{reader!r} is not a reader of the study. Readers: {names}")
        reader_id = reader_ids_by_name[reader]
    exclusion = Exclusion(
        study_id=loaded_study.id,
        case_id=case_id,
        reader_id=reader_id,
        reason=reason.strip(),
        excluded_by=by.id or None,
        excluded_at=now,
    )
    study_storage.add_exclusion(db, exclusion=exclusion)
    record_action(
        db,
        by=by,
        action="exclude from study",
        subject=f"study {loaded_study.id}",
        new={"case": case, "reader": reader},
        reason=reason.strip(),
        now=now,
    )
    return exclusion


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionSummary:
    """An exclusion as it is shown: of a case (its number), a reader (the name), or both. None means all."""

    case: int | None
    reader: str | None
    reason: str
    excluded_at: datetime


def list_exclusions(db: Session, *, by: Person, study: str) -> tuple[ExclusionSummary, ...]:
    """Return all exclusions of the study, in the order in which they were made."""
    require(by, Action.RUN_STUDY)
    loaded_study = study_storage.load_study(db, name=study)
    case_numbers_by_id = {
        blind_case.id: blind_case.number for blind_case in list_blind_cases(db, study_id=loaded_study.id)
    }
    reader_names_by_id = {
        study_reader.id: study_reader.name for study_reader in list_readers(db, study_id=loaded_study.id)
    }
    return tuple(
        ExclusionSummary(
            case=None if exclusion.case_id is None else case_numbers_by_id[exclusion.case_id],
            reader=None if exclusion.reader_id is None else reader_names_by_id[exclusion.reader_id],
            reason=exclusion.reason,
            excluded_at=exclusion.excluded_at,
        )
        for exclusion in study_storage.list_exclusions(db, study_id=loaded_study.id)
    )


def create_protocol_version(
    study_id: int,
    number: int,
    protocol: Protocol,
    *,
    reason: str,
    reading_count: int,
    by: Person,
    now: datetime,
) -> ProtocolVersion:
    """Create a version of a protocol, with its hash. ``number`` is the number of the version."""
    return ProtocolVersion(
        study_id=study_id,
        version=number,
        protocol=protocol,
        sha256=protocol.sha256(),
        reason=reason,
        answers_before=reading_count,
        written_by=by.id or None,
        written_at=now,
    )


def _to_plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
