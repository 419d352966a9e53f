"""Fix once, apply to many: reject or queue the like of an error, and take it back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from browsing.applying import MOST, Step, check_narrow, checked_reason, search_to_plain
from browsing.search import Search
from browsing.service.finding import asked
from domain.batches import BatchSettings, BatchState
from domain.errors import AlreadyThere, InvalidValue, Refused
from domain.people import Action, Person, require
from storage.browsing import applying
from storage.browsing import search as words
from storage.browsing.applying import AppliedRule
from storage.browsing.found_questions import FoundQuestion, found_questions
from storage.browsing.search import index_state
from storage.sampling.batches import find_batch, load_batch, save_state
from storage.sampling.frames import dataset_number

_EXAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyPreview:
    """What a step would take: ``count`` questions, the first few of them, and why others are left out.

    ``numbers`` are all that it would take. ``left_out`` counts by reason.
    """

    count: int
    examples: tuple[FoundQuestion, ...]
    left_out: Mapping[str, int]
    numbers: tuple[int, ...]


def preview_apply(db: Session, *, by: Person, search: Search) -> ApplyPreview:
    """What a step would take of what the search finds, without doing it.

    Raises:
        NotFound: no such dataset or batch.
        Refused: the search index is behind, so not all would be found.
    """
    require(by, Action.DRAW_BATCH)
    state = index_state(db)
    if state.behind:
        raise Refused(
            f"{state.newest - state.through:,} questions are not in the search index yet. Put them in first."
        )
    numbers = words.matching(db, **asked(db, search), most=MOST + 1)
    left_out = applying.left_out_of(db, numbers=numbers)
    taken = tuple(number for number in numbers if number not in left_out)
    return ApplyPreview(
        count=len(taken),
        examples=tuple(found_questions(db, numbers=taken[:_EXAMPLES])),
        left_out=Counter(left_out.values()),
        numbers=taken,
    )


def reject_like(
    db: Session, *, by: Person, search: Search, reason: str, expected: int, now: datetime
) -> AppliedRule:
    """Reject all that the search finds in the rest: they come into no later draw and no release.

    Args:
        db: a session.
        by: who does it.
        search: what finds them.
        reason: what is wrong with them.
        expected: the count of the preview that was looked at.
        now: the time.

    Raises:
        Refused: other questions are found than the preview had; none, or too many.
    """
    require(by, Action.DRAW_BATCH)
    return _applied(db, by=by, step=Step.REJECT, search=search, reason=reason, expected=expected, now=now)


def queue_like(
    db: Session, *, by: Person, search: Search, reason: str, batch_name: str, expected: int, now: datetime
) -> AppliedRule:
    """Put all that the search finds in the rest into a new batch, which is no random sample of anything.

    Raises:
        AlreadyThere: a batch has that name.
        Refused: other questions are found than the preview had; none, or too many.
    """
    require(by, Action.DRAW_BATCH)
    name = batch_name.strip()
    if not 1 <= len(name) <= 80 or not name.isprintable():
        raise InvalidValue("batch", "a batch needs a name of 1 to 80 printable characters")
    if find_batch(db, name=name) is not None:
        raise AlreadyThere(f"There is a batch {name!r} already. Choose another name.")
    return _applied(
        db, by=by, step=Step.QUEUE, search=search, reason=reason, expected=expected, now=now, batch_name=name
    )


def take_rule_back(db: Session, *, by: Person, rule: int, reason: str, now: datetime) -> AppliedRule:
    """Let a rule hold no more: its questions can be drawn again. Its batch is closed; what was judged stays.

    Raises:
        NotFound: no such rule.
        Refused: it was taken back already.
    """
    require(by, Action.DRAW_BATCH)
    found = applying.rule_of(db, number=rule)
    if found.back_at is not None:
        raise Refused(f"Rule {rule} was taken back on {found.back_at:%Y-%m-%d %H:%M} UTC already.")
    why = checked_reason(reason)
    applying.take_back(db, rule=rule, reason=why, by=by.id or None, now=now)
    if found.batch is not None:
        batch = load_batch(db, name=found.batch, lock=True)
        if batch.state is BatchState.OPEN:
            save_state(db, batch_id=batch.id, state=BatchState.CLOSED, by=by.id or None, now=now)
    record(
        db, by=by, what="take rule back", subject=f"rule {rule}",
        old={"what": found.what, "questions": found.questions, "batch": found.batch}, why=why, now=now,
    )  # fmt: skip
    return applying.rule_of(db, number=rule)


def applied_rules(db: Session, *, by: Person, dataset: str | None = None) -> list[AppliedRule]:
    """What was applied to many, the newest first."""
    require(by, Action.DRAW_BATCH)
    number = None if dataset is None else dataset_number(db, name=dataset)
    return applying.list_rules(db, dataset_id=number)


def _applied(
    db: Session,
    *,
    by: Person,
    step: Step,
    search: Search,
    reason: str,
    expected: int,
    now: datetime,
    batch_name: str | None = None,
) -> AppliedRule:
    why = checked_reason(reason)
    seen = preview_apply(db, by=by, search=search)
    check_narrow(search, seen.count, step)
    if seen.count != expected:
        raise Refused(
            f"The preview had {expected:,} questions, now there are {seen.count:,}: somebody drew, judged or "
            "imported meanwhile. Look at it again."
        )
    dataset_id = dataset_number(db, name=search.dataset)
    batch = None
    if batch_name is not None:
        batch = applying.add_queued_batch(
            db, name=batch_name, dataset_id=dataset_id, settings=BatchSettings(), questions=seen.numbers,
            by=by.id or None, now=now,
        )  # fmt: skip
    plain = search_to_plain(search)
    rule = applying.add_rule(
        db,
        dataset_id=dataset_id,
        what=step.value,
        search=plain,
        reason=why,
        questions=seen.numbers,
        batch_id=batch.id if batch else None,
        by=by.id or None,
        now=now,
    )
    record(
        db, by=by, what=f"{step.value} by rule", subject=f"rule {rule}",
        new={"search": plain, "questions": seen.count, "batch": batch.id if batch else None}, why=why,
        now=now,
    )  # fmt: skip
    return applying.rule_of(db, number=rule)
