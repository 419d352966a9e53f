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
from storage.browsing import applied_rules
from storage.browsing import search as search_storage
from storage.browsing.applied_rules import AppliedRule
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
    excluded = applied_rules.load_exclusion_reasons(db, numbers=numbers)
    affected = tuple(number for number in numbers if number not in excluded)
    return BulkPreview(
        count=len(affected),
        examples=tuple(load_search_results(db, numbers=affected[:_MAX_EXAMPLES])),
        excluded=Counter(excluded.values()),
        numbers=affected,
    )


def reject_matching(
    db: Session, *, by: Person, search: Search, reason: str, expected: int, now: datetime
) -> AppliedRule:
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
        Refused: the count differs from the preview, is 0 or too large, the search has no criterion, or the
            search index is not up to date.
    """
    require(by, Action.DRAW_BATCH)
    return _apply(
        db, by=by, action=BulkAction.REJECT, search=search, reason=reason, expected=expected, now=now
    )


def queue_matching(
    db: Session, *, by: Person, search: Search, reason: str, batch_name: str, expected: int, now: datetime
) -> AppliedRule:
    """Queue all questions that match a search and have not been drawn, judged or rejected into a new batch.

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


def undo_rule(db: Session, *, by: Person, rule: int, reason: str, now: datetime) -> AppliedRule:
    """Undo a rule: its questions can be drawn again, and its batch is closed. Verdicts are kept.

    Raises:
        NotFound: there is no such rule.
        InvalidValue: the reason is too short or too long.
        Refused: the rule was already undone.
    """
    require(by, Action.DRAW_BATCH)
    applied_rule = applied_rules.load_rule(db, number=rule)
    if applied_rule.undone_at is not None:
        raise Refused(f"Rule {rule} was already undone on {applied_rule.undone_at:%Y-%m-%d %H:%M} UTC.")
    normalised_reason = normalise_reason(reason)
    applied_rules.undo_rule(db, rule=rule, reason=normalised_reason, by=by.id or None, now=now)
    if applied_rule.batch is not None:
        batch = load_batch(db, name=applied_rule.batch, lock=True)
        if batch.state is BatchState.OPEN:
            save_state(db, batch_id=batch.id, state=BatchState.CLOSED, by=by.id or None, now=now)
    record_action(
        db,
        by=by,
        action="take rule back",
        subject=f"rule {rule}",
        old={"what": applied_rule.action, "questions": applied_rule.questions, "batch": applied_rule.batch},
        reason=normalised_reason,
        now=now,
    )
    return applied_rules.load_rule(db, number=rule)


def list_applied_rules(db: Session, *, by: Person, dataset: str | None = None) -> list[AppliedRule]:
    """List all rules, or those of one dataset, the newest first.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.DRAW_BATCH)
    number = None if dataset is None else load_dataset_row_id(db, name=dataset)
    return applied_rules.list_rules(db, dataset_id=number)


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
) -> AppliedRule:
    normalised_reason = normalise_reason(reason)
    matches = preview_bulk_action(db, by=by, search=search)
    check_search_scope(search, matches.count, action)
    if matches.count != expected:
        raise Refused(
            f"The preview had {expected:,} questions, but now there are {matches.count:,}, because another "
            "user has drawn, judged or imported questions. Preview again."
        )
    dataset_id = load_dataset_row_id(db, name=search.dataset)
    batch = None
    if batch_name is not None:
        lock_dataset(db, dataset_id=dataset_id)  # boxes of its questions must not change meanwhile
        batch = applied_rules.add_queued_batch(
            db, name=batch_name, dataset_id=dataset_id, settings=BatchSettings(), questions=matches.numbers,
            by=by.id or None, now=now,
        )  # fmt: skip
    search_json = search_to_json(search)
    rule_number = applied_rules.add_rule(
        db,
        dataset_id=dataset_id,
        action=action.value,
        search=search_json,
        reason=normalised_reason,
        questions=matches.numbers,
        batch_id=batch.id if batch else None,
        by=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action=f"{action.value} by rule",
        subject=f"rule {rule_number}",
        new={"search": search_json, "questions": matches.count, "batch": batch.id if batch else None},
        reason=normalised_reason,
        now=now,
    )
    return applied_rules.load_rule(db, number=rule_number)
