"""Services for the readers of a study and their profiles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlmodel import Session

from accounts.service import load_person_by_name
from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound, Refused
from domain.mail import NoticeKind
from domain.people import Action, Person, Role, require
from domain.studies import Reader, ReaderProfile, ReaderStudy, StudyState
from notifications.service import notify
from reader_study.service.reading_orders import replace_reading_orders
from storage.reader_study import readers as reader_storage
from storage.reader_study.cases import replace_slots
from storage.reader_study.marks import list_markers
from storage.reader_study.readings import delete_drafts
from storage.reader_study.studies import load_study


def assign_readers(
    db: Session, *, by: Person, study: str, to: Sequence[str], now: datetime
) -> tuple[Reader, ...]:
    """Add readers to a study and recompute all reading orders. Locks the study's row.

    People who are already readers of the study are ignored. A new reader gets the profile of their latest
    study.

    Args:
        db: a session for writing.
        by: the acting person.
        study: the name of the study.
        to: the sign-in names of the new readers.
        now: the current time.

    Returns:
        All readers of the study.

    Raises:
        NotFound: the study or a person does not exist.
        InvalidValue: ``to`` is empty.
        Refused: the study has an answer or is closed, a person is disabled, does not have the role reader or
            marks answers of the study, or the design does not fit the number of readers.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = _load_changeable_study(db, study)
    marker_ids = {marker.person_id for marker in list_markers(db, study_id=loaded_study.id)}
    known_person_ids = {
        reader.person_id for reader in reader_storage.list_readers(db, study_id=loaded_study.id)
    }
    people = [load_person_by_name(db, name=name) for name in dict.fromkeys(to)]
    if not people:
        raise InvalidValue("to", "choose at least one reader")
    added_names, added_ids = [], []
    for person in people:
        if person.disabled_at is not None:
            raise Refused(f"The account of {person.name} is disabled. Choose another person.")
        if Role.READER not in person.roles:
            raise Refused(
                f"{person.name} does not have the role reader. Choose another person, or ask an admin for "
                "the role."
            )
        if person.id in known_person_ids:
            continue
        if person.id in marker_ids:
            raise Refused(f"{person.name} marks the open answers of this study, so they cannot read in it.")
        reader_storage.add_reader(
            db,
            study_id=loaded_study.id,
            name=person.name,
            display_name=person.display_name,
            person_id=person.id,
            profile=reader_storage.find_latest_profile(db, person_id=person.id) or ReaderProfile(),
        )
        added_names.append(person.name)
        added_ids.append(person.id)
    if added_names:
        replace_reading_orders(db, study=loaded_study)
        record_action(
            db, by=by, action="assign readers", subject=f"study {loaded_study.id}", new=added_names, now=now
        )
        notify(
            db,
            by_id=by.id,
            person_ids=added_ids,
            kind=NoticeKind.STUDY,
            name=loaded_study.name,
            path=f"read?study={loaded_study.id}",
            now=now,
        )
    return reader_storage.list_readers(db, study_id=loaded_study.id)


def remove_reader(db: Session, *, by: Person, study: str, reader: str, now: datetime) -> tuple[Reader, ...]:
    """Remove a reader before the first answer, and recompute the reading orders. Locks the study's row.

    Returns:
        The remaining readers.

    Raises:
        NotFound: the study or the reader does not exist.
        Refused: the study has an answer or is closed, the reader is external, or too few readers remain for
            the design.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = _load_changeable_study(db, study)
    removed_reader = _find_reader(db, loaded_study, reader)
    if removed_reader.is_external:
        raise Refused(
            f"{reader} is an external reader with imported readings, which are kept. Exclude the reader "
            "instead."
        )
    delete_drafts(db, reader_id=removed_reader.id)
    replace_slots(db, study_id=loaded_study.id, slots=())
    reader_storage.remove_reader(db, reader_id=removed_reader.id)
    replace_reading_orders(db, study=loaded_study)
    record_action(
        db,
        by=by,
        action="remove reader",
        subject=f"study {loaded_study.id}",
        old=removed_reader.name,
        now=now,
    )
    return reader_storage.list_readers(db, study_id=loaded_study.id)


def set_profile(
    db: Session,
    *,
    by: Person,
    study: str,
    reader: str,
    profile: ReaderProfile,
    of_reference: bool = False,
    now: datetime,
) -> Reader:
    """Set a reader's profile. Setting the same profile again changes nothing.

    Args:
        db: a session for writing.
        by: the acting person.
        study: the name of the study.
        reader: the name of the reader.
        profile: the profile, by which the report groups readers.
        of_reference: whether the reader contributed to the answer key.
        now: the current time.

    Raises:
        NotFound: the study or the reader does not exist.
    """
    require(by, Action.RUN_STUDY)
    loaded_study = load_study(db, name=study)
    before = _find_reader(db, loaded_study, reader)
    if (before.profile, before.of_reference) == (profile, of_reference):
        return before
    after = reader_storage.update_reader(db, reader_id=before.id, profile=profile, of_reference=of_reference)
    record_action(
        db,
        by=by,
        action="set reader profile",
        subject=f"study {loaded_study.id} reader {before.id}",
        old=_profile_to_plain(before),
        new=_profile_to_plain(after),
        now=now,
    )
    return after


def list_readers(db: Session, *, by: Person, study: str) -> tuple[Reader, ...]:
    """Return all readers of the study, including external readers."""
    require(by, Action.RUN_STUDY)
    return reader_storage.list_readers(db, study_id=load_study(db, name=study).id)


def _load_changeable_study(db: Session, name: str) -> ReaderStudy:
    loaded_study = load_study(db, name=name, lock=True)
    if loaded_study.frozen:
        raise Refused(
            f"Reading of the study {name} has begun, so readers and the order of cases are fixed. Create "
            "another study for further readers."
        )
    if loaded_study.state is StudyState.CLOSED:
        raise Refused(f"The study {name} is closed. Reopen it first.")
    return loaded_study


def _find_reader(db: Session, study: ReaderStudy, name: str) -> Reader:
    readers = {reader.name: reader for reader in reader_storage.list_readers(db, study_id=study.id)}
    if name not in readers:
        raise NotFound(
            f"{name!r} is not a reader of the study {study.name}. Readers: {', '.join(readers) or 'none'}."
        )
    return readers[name]


def _profile_to_plain(reader: Reader) -> dict[str, object]:
    profile = reader.profile
    return {
        "level": profile.level.value if profile.level else None,
        "years": profile.years,
        "subspecialty": profile.subspecialty,
        "of_reference": reader.of_reference,
    }
