"""Applies one decision to many questions: reject or queue all that a search finds, and undo it."""

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
    """The questions that a step would apply to: their count, numbers, and the first few as examples.

    ``left_out`` counts the questions that the search finds but the step leaves out, by reason.
    """

    count: int
    examples: tuple[FoundQuestion, ...]
    left_out: Mapping[str, int]
    numbers: tuple[int, ...]


def preview_apply(db: Session, *, by: Person, search: Search) -> ApplyPreview:
    """Compute which questions a step would apply to; writes nothing.

    Raises:
        NotFound: there is no such dataset or batch.
        Refused: the search index is not up to date, so the search would not find all.
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
    """Reject all questions that a search finds and that were not drawn, judged or rejected yet.

    They enter no later draw or release.

    Args:
        db: a session that writes.
        by: who acts.
        search: the search.
        reason: what is wrong with the questions.
        expected: the count of the preview that the user was shown.
        now: the time.

    Raises:
        NotFound: there is no such dataset or batch.
        InvalidValue: no reason.
        Refused: the count differs from the preview's, is 0 or too large, the search is too wide, or the
            search index is not up to date.
    """
    require(by, Action.DRAW_BATCH)
    return _applied(db, by=by, step=Step.REJECT, search=search, reason=reason, expected=expected, now=now)


def queue_like(
    db: Session, *, by: Person, search: Search, reason: str, batch_name: str, expected: int, now: datetime
) -> AppliedRule:
    """Put all questions that a search finds and that were not drawn, judged or rejected yet into a new batch.

    The batch is not a random sample.

    Args:
        db: a session that writes.
        by: who acts.
        search: the search.
        reason: why they are to be reviewed.
        batch_name: of the new batch.
        expected: the count of the preview that the user was shown.
        now: the time.

    Raises:
        AlreadyThere: there is a batch of that name.
        NotFound: as :func:`reject_like`.
        InvalidValue: no reason, or a name that is not allowed.
        Refused: as :func:`reject_like`.
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
    """Undo a rule: its questions can be drawn again, and its batch is closed. Verdicts stay.

    Raises:
        NotFound: there is no such rule.
        InvalidValue: no reason.
        Refused: it was undone already.
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
    """All rules, or those of one dataset, the newest first.

    Raises:
        NotFound: there is no such dataset.
    """
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
