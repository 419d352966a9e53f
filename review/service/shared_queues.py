"""Service that creates the shared queue of a batch, from which its members take questions one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.batches import AssignmentState
from domain.errors import InvalidValue
from domain.mail import NoticeKind
from domain.people import Action, Person, require
from notifications.service import notify
from review.service.batches import batch_subject
from review.service.coordinator_lookups import load_reviewers, lock_open_batch
from storage.review import claims, shared_queues
from storage.review.assignments import iterate_assignments

#: The default time after which an inactive member loses a claimed question, in minutes.
DEFAULT_IDLE_MINUTES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSummary:
    """The members of the queue, the number of judgements added to it, and the number of free judgements."""

    batch: str
    members: tuple[str, ...]
    overlap: int
    idle_minutes: int
    added: int
    free: int


def share_batch(
    db: Session,
    *,
    by: Person,
    batch: str,
    to: Sequence[str],
    overlap: int = 1,
    idle_minutes: int = DEFAULT_IDLE_MINUTES,
    now: datetime,
) -> ShareSummary:
    """Create or extend the shared queue of a batch. Locks the batch's row.

    A further call adds members, reviewers per question, or questions that were drawn since the last call. A
    smaller overlap than before removes nothing.

    Args:
        db: a session for writing.
        by: the acting person.
        batch: the name of the batch.
        to: the sign-in names of the reviewers who become members.
        overlap: the number of reviewers per question, including those to whom it is already assigned.
        idle_minutes: the time for which an inactive member keeps a claimed question, in minutes.
        now: the current time.

    Raises:
        NotFound: the batch or a person does not exist.
        Refused: the batch is closed, or a person is not a reviewer or is disabled.
        InvalidValue: ``to`` is empty, the overlap is below 1, or the idle time is not 1 to 1,440 minutes.
    """
    require(by, Action.ASSIGN)
    if overlap < 1:
        raise InvalidValue("overlap", f"must be 1 or more, not {overlap}")
    if not 1 <= idle_minutes <= 24 * 60:
        raise InvalidValue("idle", f"must be 1 to 1,440 minutes, not {idle_minutes}")
    loaded_batch = lock_open_batch(db, batch)
    people = load_reviewers(db, to, batch=loaded_batch)
    previous = shared_queues.find_shared_queue(db, batch_id=loaded_batch.id)
    queue = shared_queues.SharedQueue(overlap=overlap, idle_timeout=timedelta(minutes=idle_minutes))
    shared_queues.save_queue(db, batch_id=loaded_batch.id, queue=queue)
    new_members = shared_queues.add_pool_members(
        db, batch_id=loaded_batch.id, person_ids=[person.id for person in people], now=now
    )
    reviewer_counts: dict[int, int] = {}
    for question_row_id, _, state in iterate_assignments(db, batch_id=loaded_batch.id):
        if state not in (AssignmentState.WITHDRAWN, AssignmentState.SKIPPED):
            reviewer_counts[question_row_id] = reviewer_counts.get(question_row_id, 0) + 1
    additions = [
        (question, missing)
        for question in shared_queues.list_queue_questions(db, batch_id=loaded_batch.id)
        if (missing := overlap - question.free - reviewer_counts.get(question.question_row_id, 0)) > 0
    ]
    shared_queues.add_free_judgements(db, batch_id=loaded_batch.id, requests=additions)
    added = sum(missing for _, missing in additions)
    names = tuple(person.name for person in people)
    new = {"pool": names, "overlap": overlap, "idle_minutes": idle_minutes, "judgements": added}
    old = previous and {
        "overlap": previous.overlap,
        "idle_minutes": round(previous.idle_timeout.total_seconds() / 60),
    }
    record_action(
        db, by=by, action="share batch", subject=batch_subject(loaded_batch), old=old, new=new, now=now
    )
    notify(
        db,
        by_id=by.id,
        person_ids=new_members,
        kind=NoticeKind.SHARED,
        name=loaded_batch.name,
        path=f"review?batch={loaded_batch.id}",
        now=now,
    )
    return ShareSummary(
        batch=batch,
        members=names,
        overlap=overlap,
        idle_minutes=idle_minutes,
        added=added,
        free=claims.count_claims(db, batch_id=loaded_batch.id).free,
    )
