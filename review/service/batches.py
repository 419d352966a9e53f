"""Services that load a batch, change its settings, close it and reopen it."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.batches import Batch, BatchSettings, BatchState, FormScope
from domain.errors import Refused, StaleRevision
from domain.people import Action, Person, require
from review.settings import check_anchors, describe_differences, list_frozen_changes
from storage.accounts.people import load_person
from storage.review.assignments import load_last_change
from storage.review.verdicts import has_judgements
from storage.sampling import batches as batch_storage


def load_named_batch(db: Session, *, by: Person, name: str) -> Batch:
    """Return the batch with this name.

    Raises:
        NotFound: the batch does not exist; the message lists the existing batches.
    """
    require(by, Action.SEE_PROGRESS)
    return batch_storage.load_batch(db, name=name)


def are_settings_frozen(db: Session, *, by: Person, batch: str) -> bool:
    """Whether review has begun, so that only guideline and anchors can be changed."""
    require(by, Action.ASSIGN)
    return has_judgements(db, batch_id=batch_storage.load_batch(db, name=batch).id)


def change_settings(
    db: Session, *, by: Person, batch: str, settings: BatchSettings, revision: int, now: datetime
) -> Batch:
    """Replace the settings of a batch. Once review has begun, only guideline and anchors can be changed.

    Locks the batch's row.

    Args:
        db: a session for writing.
        by: the acting person.
        batch: the name of the batch.
        settings: the new settings.
        revision: the revision of the batch that the user was shown.
        now: the current time.

    Returns:
        The batch with its new revision; the unchanged batch if the settings are the same.

    Raises:
        StaleRevision: another person has changed the settings since; the message states who, when and what.
        Refused: a setting other than guideline and anchors would change after review has begun, or the report
            would be shown in a batch that does not request image alignment.
        InvalidValue: an anchor is empty.
    """
    require(by, Action.ASSIGN)
    loaded_batch = batch_storage.load_batch(db, name=batch, lock=True)
    if settings == loaded_batch.settings:
        return loaded_batch
    if revision != loaded_batch.revision:
        raise StaleRevision(_describe_stale_settings(db, loaded_batch, settings))
    if settings.show_report and settings.parts is FormScope.KEY:
        raise Refused(
            "The report opens after image alignment is rated, but this batch does not request that "
            "rating. Request all fields or image alignment, or do not allow opening the report."
        )
    check_anchors(settings)
    changed = list_frozen_changes(loaded_batch.settings, settings)
    if changed and has_judgements(db, batch_id=loaded_batch.id):
        raise Refused(
            f"{' and '.join(changed)} cannot be changed: review has begun, and verdicts given under "
            "different settings cannot be compared. Draw another batch for other settings."
        )
    saved = batch_storage.save_settings(
        db, batch_id=loaded_batch.id, settings=settings, by=by.id or None, now=now
    )
    subject = batch_subject(loaded_batch)
    record_action(
        db, by=by, action="change settings", subject=subject, old=loaded_batch.settings, new=settings, now=now
    )
    return saved


def close_batch(db: Session, *, by: Person, batch: str, now: datetime) -> Batch:
    """Close a batch, so that it accepts no verdicts. Does nothing if it is closed. Locks the batch's row."""
    return _set_state(db, by=by, batch=batch, state=BatchState.CLOSED, now=now)


def reopen_batch(db: Session, *, by: Person, batch: str, now: datetime) -> Batch:
    """Reopen a closed batch. Does nothing if it is open. Locks the batch's row."""
    return _set_state(db, by=by, batch=batch, state=BatchState.OPEN, now=now)


def _set_state(db: Session, *, by: Person, batch: str, state: BatchState, now: datetime) -> Batch:
    require(by, Action.ASSIGN)
    loaded_batch = batch_storage.load_batch(db, name=batch, lock=True)
    if loaded_batch.state is state:
        return loaded_batch
    action = "close batch" if state is BatchState.CLOSED else "reopen batch"
    record_action(
        db,
        by=by,
        action=action,
        subject=batch_subject(loaded_batch),
        old=loaded_batch.state,
        new=state,
        now=now,
    )
    return batch_storage.save_state(db, batch_id=loaded_batch.id, state=state, by=by.id or None, now=now)


def batch_subject(batch: Batch) -> str:
    """Return the subject of a batch in the audit trail."""
    return f"batch {batch.id}"


def _describe_stale_settings(db: Session, batch: Batch, own_settings: BatchSettings) -> str:
    person_id, changed_at = load_last_change(db, batch_id=batch.id)
    author = load_person(db, person_id=person_id).display_name if person_id else "the command line"
    time_text = f" on {changed_at:%Y-%m-%d %H:%M:%S} UTC" if changed_at else ""
    differences = "; ".join(describe_differences(batch.settings, own_settings))
    return (
        f"Not saved: {author} changed batch {batch.name}{time_text}, after you opened it. "
        f"Differences: {differences}. Open the saved settings and make your change there."
    )
