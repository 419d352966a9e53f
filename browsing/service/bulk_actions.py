"""Services for bulk actions: reject or queue all questions that match a search, and undo such an action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from browsing.bulk_actions import (
    MAX_QUESTIONS,
    BulkAction,
    check_search_scope,
    normalise_reason,
    search_to_json,
)
from browsing.search import Search
from browsing.service.search import build_query_arguments
from domain.batches import BatchSettings, BatchState
from domain.errors import AlreadyThere, InvalidValue, Refused
from domain.people import Action, Person, require
from storage.browsing import bulk_actions
from storage.browsing import search as search_storage
from storage.browsing.bulk_actions import AppliedBulkAction
from storage.browsing.search import load_index_state
from storage.browsing.search_results import SearchResult, load_search_results
from storage.sampling.batches import find_batch, load_batch, save_state
from storage.sampling.frames import load_dataset_row_id, lock_dataset

_MAX_EXAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkPreview:
    """The questions to which a bulk action would apply: their count and ids, and the first few as examples.

    ``excluded`` contains the number of matching questions that the action leaves out, by reason.
    """

    count: int
    examples: tuple[SearchResult, ...]
    excluded: Mapping[str, int]
    numbers: tuple[int, ...]


def preview_bulk_action(db: Session, *, by: Person, search: Search) -> BulkPreview:
    """Compute to which questions a bulk action would apply; writes nothing.

    Raises:
        NotFound: there is no such dataset or batch.
        Refused: the search index is not up to date, so some questions would be missed.
    """
    require(by, Action.DRAW_BATCH)
    state = load_index_state(db)
    if state.is_behind:
        raise Refused(
            f"{state.newest - state.last_indexed:,} questions are not in the search index yet. Update the "
            "search index first."
        )
    numbers = search_storage.find_matching_questions(
        db, **build_query_arguments(db, search), limit=MAX_QUESTIONS + 1
    )
    exclusion_reasons = bulk_actions.load_exclusion_reasons(db, numbers=numbers)
    affected = tuple(number for number in numbers if number not in exclusion_reasons)
    return BulkPreview(
        count=len(affected),
        examples=tuple(load_search_results(db, numbers=affected[:_MAX_EXAMPLES])),
        excluded=Counter(exclusion_reasons.values()),
        numbers=affected,
    )


def reject_matching(
    db: Session, *, by: Person, search: Search, reason: str, expected: int, now: datetime
) -> AppliedBulkAction:
    """Reject all questions that match a search and have not been drawn, judged or rejected.

    Rejected questions are left out of later draws and releases.

    Args:
        db: a session that can write.
        by: the acting person.
        search: the search.
        reason: what is wrong with the questions.
        expected: the count in the preview that the user saw.
        now: the current time.

    Raises:
        NotFound: there is no such dataset or batch.
        InvalidValue: the reason is too short or too long.
        Refused: the count differs from the preview, is 0 or is too large; the search has no criterion; or
            the search index is not up to date.
    """
    require(by, Action.DRAW_BATCH)
    return _apply(
        db, by=by, action=BulkAction.REJECT, search=search, reason=reason, expected=expected, now=now
    )


def queue_matching(
    db: Session, *, by: Person, search: Search, reason: str, batch_name: str, expected: int, now: datetime
) -> AppliedBulkAction:
    """Create a batch of all questions that match a search and have not been drawn, judged or rejected.

    The batch is not a random sample.

    Args:
        db: a session that can write.
        by: the acting person.
        search: the search.
        reason: why the questions should be reviewed.
        batch_name: the name of the new batch.
        expected: the count in the preview that the user saw.
        now: the current time.

    Raises:
        AlreadyThere: a batch with this name exists.
        NotFound: as in :func:`reject_matching`.
        InvalidValue: the reason or the name is not allowed.
        Refused: as in :func:`reject_matching`.
    """
    require(by, Action.DRAW_BATCH)
    name = batch_name.strip()
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise InvalidValue("batch", "a batch name must have 1 to 80 printable characters")
    if find_batch(db, name=name) is not None:
        raise AlreadyThere(f"A batch {name!r} already exists. Choose another name.")
    return _apply(
        db,
        by=by,
        action=BulkAction.QUEUE,
        search=search,
        reason=reason,
        expected=expected,
        now=now,
        batch_name=name,
    )


def undo_bulk_action(
    db: Session, *, by: Person, number: int, reason: str, now: datetime
) -> AppliedBulkAction:
    """Undo a bulk action: its questions can be drawn again, and its batch is closed. Verdicts are kept.

    Raises:
        NotFound: there is no bulk action with this number.
        InvalidValue: the reason is too short or too long.
        Refused: the bulk action was already undone.
    """
    require(by, Action.DRAW_BATCH)
    applied = bulk_actions.load_bulk_action(db, number=number)
    if applied.undone_at is not None:
        raise Refused(f"Bulk action {number} was already undone on {applied.undone_at:%Y-%m-%d %H:%M} UTC.")
    normalised_reason = normalise_reason(reason)
    bulk_actions.add_undo(db, number=number, reason=normalised_reason, by=by.id or None, now=now)
    if applied.batch is not None:
        batch = load_batch(db, name=applied.batch, lock=True)
        if batch.state is BatchState.OPEN:
            save_state(db, batch_id=batch.id, state=BatchState.CLOSED, by=by.id or None, now=now)
    record_action(
        db,
        by=by,
        action="take rule back",
        subject=f"rule {number}",
        old={"what": applied.action, "questions": applied.questions, "batch": applied.batch},
        reason=normalised_reason,
        now=now,
    )
    return bulk_actions.load_bulk_action(db, number=number)


def list_bulk_actions(db: Session, *, by: Person, dataset: str | None = None) -> list[AppliedBulkAction]:
    """List all bulk actions, or those of one dataset, the newest first.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.DRAW_BATCH)
    dataset_id = None if dataset is None else load_dataset_row_id(db, name=dataset)
    return bulk_actions.list_bulk_actions(db, dataset_id=dataset_id)


def _apply(
    db: Session,
    *,
    by: Person,
    action: BulkAction,
    search: Search,
    reason: str,
    expected: int,
    now: datetime,
    batch_name: str | None = None,
) -> AppliedBulkAction:
    normalised_reason = normalise_reason(reason)
    preview = preview_bulk_action(db, by=by, search=search)
    check_search_scope(search, preview.count, action)
    if preview.count != expected:
        raise Refused(
            f"The preview had {expected:,} questions, but now there are {preview.count:,}, because another "
            "user has drawn, judged or imported questions. Preview again."
        )
    dataset_id = load_dataset_row_id(db, name=search.dataset)
    batch = None
    if batch_name is not None:
        lock_dataset(db, dataset_id=dataset_id)  # the boxes of its questions must not change meanwhile
        batch = bulk_actions.add_queued_batch(
            db, name=batch_name, dataset_id=dataset_id, settings=BatchSettings(), questions=preview.numbers,
            by=by.id or None, now=now,
        )  # fmt: skip
    search_json = search_to_json(search)
    number = bulk_actions.add_bulk_action(
        db,
        dataset_id=dataset_id,
        action=action.value,
        search=search_json,
        reason=normalised_reason,
        questions=preview.numbers,
        batch_id=batch.id if batch else None,
        by=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action=f"{action.value} by rule",
        subject=f"rule {number}",
        new={"search": search_json, "questions": preview.count, "batch": batch.id if batch else None},
        reason=normalised_reason,
        now=now,
    )
    return bulk_actions.load_bulk_action(db, number=number)
