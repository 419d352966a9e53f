"""Services for the progress of batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.people import Action, Person, require
from intake.garbage_collector import pause_garbage_collector
from review.batch_counts import BatchData, count_batch
from review.progress import Progress
from storage.accounts.people import list_people
from storage.release import errata, gold
from storage.review import claims, shared_queues
from storage.review import progress as progress_storage
from storage.review.assignments import count_by_person
from storage.review.latest_verdicts import load_latest_verdicts
from storage.sampling.batches import list_batches, load_batch, load_batch_sizes
from storage.sampling.frames import load_dataset_names


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOverview:
    """A batch in a list: the number of its questions, and the numbers of its judgements by state.

    ``dataset`` is the name of the dataset from which the batch was drawn.
    """

    batch: Batch
    dataset: str
    questions: int
    requested: int
    done: int
    skipped: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonWorkload:
    """The numbers of one person's questions of a batch, by state."""

    person: Person
    done: int
    skipped: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedQueueWorkload:
    """The shared queue of a batch: its members (sign-in names) and the numbers of requested judgements.

    ``free``, ``claimed`` and ``done`` count the judgements by state, ``overlap`` is the number of judgements
    per question, and a claim expires after ``idle_minutes``.
    """

    members: tuple[str, ...]
    overlap: int
    idle_minutes: int
    free: int
    claimed: int
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWorkload:
    """The workload of a batch: by person, of the shared queue, and the number of unassigned questions."""

    people: tuple[PersonWorkload, ...]
    unassigned: int
    shared: SharedQueueWorkload | None


@pause_garbage_collector()
def load_progress(db: Session, *, by: Person, batch: str, now: datetime) -> Progress:
    """Compute the progress of a batch; see :class:`review.progress.Progress`.

    Raises:
        NotFound: the batch does not exist.
    """
    require(by, Action.SEE_PROGRESS)
    loaded_batch = load_batch(db, name=batch)
    data = BatchData(
        questions=progress_storage.load_batch_columns(db, batch_id=loaded_batch.id),
        assignments=progress_storage.load_assignment_columns(db, batch_id=loaded_batch.id),
        verdicts=load_latest_verdicts(db, batch_ids=[loaded_batch.id], ratings=True),
        people=build_display_names(list_people(db)),
    )
    return count_batch(loaded_batch, data, now=now)


def load_counts_version(
    db: Session, *, by: Person, batches: Sequence[str] | None = None
) -> tuple[object, ...]:
    """Return a cache key that changes whenever counts of batches may change.

    Computing the key takes milliseconds; counting a large batch takes seconds.

    Args:
        db: a read-only session.
        by: the acting person.
        batches: the names of the batches; None for all.
    """
    require(by, Action.SEE_PROGRESS)
    selected_batches = [batch for batch in list_batches(db) if batches is None or batch.name in batches]
    states = progress_storage.count_assignments_by_state(db)
    return (
        *gold.compute_judged_version(db, batches=selected_batches),
        errata.count_reports(db),
        tuple(
            (batch.id, batch.revision, *sorted(states.get(batch.id, {}).items()))
            for batch in selected_batches
        ),
    )


def build_display_names(people: Sequence[Person]) -> dict[int, str]:
    """Return the display names by person id. The sign-in name is added if people share a display name."""
    name_counts = Counter(person.display_name for person in people)
    return {
        person.id: person.display_name
        if name_counts[person.display_name] == 1
        else f"{person.display_name} ({person.name})"
        for person in people
    }


def list_batch_overviews(db: Session, *, by: Person) -> list[BatchOverview]:
    """Return all batches with their counts, the newest first."""
    require(by, Action.SEE_PROGRESS)
    datasets, sizes, counts, batch_ids_with_queue = (
        load_dataset_names(db),
        load_batch_sizes(db),
        progress_storage.count_assignments_by_state(db),
        shared_queues.list_batches_with_shared_queue(db),
    )
    overviews = []
    for batch in sorted(list_batches(db), key=lambda batch_row: batch_row.id, reverse=True):
        states = counts.get(batch.id, {})
        done, skipped, left = (
            states.get(state, 0)
            for state in (AssignmentState.DONE, AssignmentState.SKIPPED, AssignmentState.OPEN)
        )
        free_judgements = (
            claims.count_claims(db, batch_id=batch.id).free if batch.id in batch_ids_with_queue else 0
        )
        left += free_judgements
        overviews.append(
            BatchOverview(
                batch=batch,
                dataset=datasets[batch.dataset_id],
                questions=sizes.get(batch.id, 0),
                requested=done + skipped + left,
                done=done,
                skipped=skipped,
                left=left,
            )
        )
    return overviews


def load_batch_workload(db: Session, *, by: Person, batch: str) -> BatchWorkload:
    """Return the workload of a batch. People are sorted by name; people without questions are omitted.

    Raises:
        NotFound: the batch does not exist.
    """
    require(by, Action.SEE_PROGRESS)
    loaded_batch = load_batch(db, name=batch)
    people = {person.id: person for person in list_people(db)}
    workloads = []
    for person_id, states in count_by_person(db, batch_id=loaded_batch.id).items():
        done, skipped, left = (
            states.get(state, 0)
            for state in (AssignmentState.DONE, AssignmentState.SKIPPED, AssignmentState.OPEN)
        )
        if done + skipped + left:
            workloads.append(PersonWorkload(person=people[person_id], done=done, skipped=skipped, left=left))
    return BatchWorkload(
        people=tuple(sorted(workloads, key=lambda workload: workload.person.name)),
        unassigned=shared_queues.count_unassigned(db, batch_id=loaded_batch.id),
        shared=_load_shared_workload(db, loaded_batch, people),
    )


def _load_shared_workload(db: Session, batch: Batch, people: dict[int, Person]) -> SharedQueueWorkload | None:
    queue = shared_queues.find_shared_queue(db, batch_id=batch.id)
    if queue is None:
        return None
    counts = claims.count_claims(db, batch_id=batch.id)
    member_ids = shared_queues.list_queue_members(db, batch_id=batch.id)
    return SharedQueueWorkload(
        members=tuple(sorted(people[person_id].name for person_id in member_ids)),
        overlap=queue.overlap,
        idle_minutes=round(queue.idle_timeout.total_seconds() / 60),
        free=counts.free,
        claimed=counts.claimed,
        done=counts.done,
    )
