"""How far batches have come, and the verdicts that stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.people import Action, Person, require
from domain.verdicts import Verdict
from review.counting import Facts, count_batch
from review.progress import Progress
from storage import progress as stored
from storage.assignments import all_assignments
from storage.batches import batch_sizes, list_batches, load_batch
from storage.people import list_people


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOverview:
    """A batch in a list: its questions, and its judgements asked for, done, skipped, left."""

    batch: Batch
    questions: int
    asked: int
    done: int
    skipped: int
    left: int


def progress(db: Session, *, by: Person, batch: str, now: datetime) -> Progress:
    """The batch in numbers: done and left, tiers, errors found; see :mod:`review.progress`.

    Raises:
        NotFound: no such batch.
    """
    require(by, Action.SEE_PROGRESS)
    found = load_batch(db, name=batch)
    facts = Facts(
        questions=stored.question_facts(db, batch_id=found.id),
        assigned=tuple(
            each
            for each in all_assignments(db, batch_id=found.id)
            if each[2] is not AssignmentState.WITHDRAWN
        ),
        judgements=tuple(stored.judged(db, batch_id=found.id)),
        people={person.id: person.name for person in list_people(db)},
    )
    return count_batch(found, facts, now=now)


def overview(db: Session, *, by: Person) -> list[BatchOverview]:
    """All batches with their counts, the newest first."""
    require(by, Action.SEE_PROGRESS)
    sizes, counts = batch_sizes(db), stored.state_counts(db)
    listed = []
    for batch in sorted(list_batches(db), key=lambda each: each.id, reverse=True):
        states = counts.get(batch.id, {})
        done, skipped, left = (
            states.get(state, 0)
            for state in (AssignmentState.DONE, AssignmentState.SKIPPED, AssignmentState.OPEN)
        )
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


def settled(db: Session, *, batch_ids: Sequence[int]) -> Iterator[Verdict]:
    """The latest verdict of each (batch, question, person), by question, batch and person.

    No action is asked for: it is one part of another service's work, which asks for its own.
    """
    return stored.latest_verdicts(db, batch_ids=batch_ids)
