"""Services for the progress of batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.people import Action, Person, require
from intake.collector import collector_paused
from review.counting import BatchFacts, count_batch
from review.progress import Progress
from storage.accounts.people import list_people
from storage.release import gold
from storage.review import claims, shared_queues
from storage.review import progress as stored
from storage.review.assignments import people_counts
from storage.review.standing import standing_verdicts
from storage.sampling.batches import batch_sizes, list_batches, load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOverview:
    """A batch in a list: its questions, and its judgements requested (``asked``), done, skipped, left."""

    batch: Batch
    questions: int
    asked: int
    done: int
    skipped: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLoad:
    """The numbers of one person's questions of a batch."""

    person: Person
    done: int
    skipped: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLoad:
    """A batch's shared queue: its members (sign-in names), and its judgements by state."""

    pool: tuple[str, ...]
    overlap: int
    idle_minutes: int
    free: int
    claimed: int
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLoad:
    """The workload of a batch: by person, in the shared queue, and questions with nobody."""

    people: tuple[PersonLoad, ...]
    unassigned: int
    shared: SharedLoad | None


@collector_paused()
def progress(db: Session, *, by: Person, batch: str, now: datetime) -> Progress:
    """Compute the progress of a batch: done and left, tiers, errors found; see :mod:`review.progress`.

    Raises:
        NotFound: no such batch.
    """
    require(by, Action.SEE_PROGRESS)
    found = load_batch(db, name=batch)
    facts = BatchFacts(
        questions=stored.batch_columns(db, batch_id=found.id),
        assigned=stored.assigned_columns(db, batch_id=found.id),
        judged=standing_verdicts(db, batch_ids=[found.id], ratings=True),
        people=shown_names(list_people(db)),
    )
    return count_batch(found, facts, now=now)


def counted_version(db: Session, *, by: Person, batches: Sequence[str] | None = None) -> tuple[object, ...]:
    """A value that changes whenever counts of batches may change; use it as the key of a cache.

    Counting a large batch takes seconds, this takes milliseconds.

    Args:
        db: a session that reads.
        by: who asks.
        batches: names of batches; None for all.
    """
    require(by, Action.SEE_PROGRESS)
    listed = [each for each in list_batches(db) if batches is None or each.name in batches]
    states = stored.state_counts(db)
    return (
        *gold.judged_version(db, batches=listed),
        tuple((each.id, each.revision, *sorted(states.get(each.id, {}).items())) for each in listed),
    )


def shown_names(people: Sequence[Person]) -> dict[int, str]:
    """Display names by person id, with the sign-in name added if two people share a display name."""
    shared = Counter(person.display_name for person in people)
    return {
        person.id: person.display_name
        if shared[person.display_name] == 1
        else f"{person.display_name} ({person.name})"
        for person in people
    }


def overview(db: Session, *, by: Person) -> list[BatchOverview]:
    """All batches with their counts, the newest first."""
    require(by, Action.SEE_PROGRESS)
    sizes, counts, pools = batch_sizes(db), stored.state_counts(db), shared_queues.with_pools(db)
    listed = []
    for batch in sorted(list_batches(db), key=lambda each: each.id, reverse=True):
        states = counts.get(batch.id, {})
        done, skipped, left = (
            states.get(state, 0)
            for state in (AssignmentState.DONE, AssignmentState.SKIPPED, AssignmentState.OPEN)
        )
        queued = claims.count_claims(db, batch_id=batch.id).free if batch.id in pools else 0
        left += queued
        listed.append(
            BatchOverview(
                batch=batch,
                questions=sizes.get(batch.id, 0),
                asked=done + skipped + left,
                done=done,
                skipped=skipped,
                left=left,
            )
        )
    return listed


def batch_load(db: Session, *, by: Person, batch: str) -> BatchLoad:
    """Each person's number of questions of a batch, sorted by name, without people who have none left.

    Raises:
        NotFound: no such batch.
    """
    require(by, Action.SEE_PROGRESS)
    found = load_batch(db, name=batch)
    people = {person.id: person for person in list_people(db)}
    loads = []
    for number, states in people_counts(db, batch_id=found.id).items():
        done, skipped, left = (
            states.get(state, 0)
            for state in (AssignmentState.DONE, AssignmentState.SKIPPED, AssignmentState.OPEN)
        )
        if done + skipped + left:
            loads.append(PersonLoad(person=people[number], done=done, skipped=skipped, left=left))
    return BatchLoad(
        people=tuple(sorted(loads, key=lambda load: load.person.name)),
        unassigned=shared_queues.count_unassigned(db, batch_id=found.id),
        shared=_shared_load(db, found, people),
    )


def _shared_load(db: Session, batch: Batch, people: dict[int, Person]) -> SharedLoad | None:
    queue = shared_queues.shared_queue(db, batch_id=batch.id)
    if queue is None:
        return None
    counts = claims.count_claims(db, batch_id=batch.id)
    pool = shared_queues.members(db, batch_id=batch.id)
    return SharedLoad(
        pool=tuple(sorted(people[number].name for number in pool)),
        overlap=queue.overlap,
        idle_minutes=round(queue.idle.total_seconds() / 60),
        free=counts.free,
        claimed=counts.claimed,
        done=counts.done,
    )
