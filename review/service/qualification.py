"""Checks that a reviewer has passed one of the practice sets that a batch requires."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session

from domain.batches import Batch
from domain.errors import Refused
from domain.people import Person
from review.distribution import format_names
from storage.review import practice as practice_storage
from storage.review.question_work import BatchForPerson


def check_qualified(db: Session, *, person: Person, reviewer_batch: BatchForPerson) -> None:
    """Check that a reviewer may see and judge the questions of a batch.

    Raises:
        Refused: the batch requires a practice set that the person has not passed; the message states what
            the person can do.
    """
    if not reviewer_batch.is_qualified:
        raise Refused(describe_missing_practice(db, person=person, batch=reviewer_batch.batch))


def check_reviewers_qualified(db: Session, *, batch: Batch, reviewers: Sequence[Person]) -> None:
    """Check that people may review a batch, before it is assigned to them.

    Raises:
        Refused: the batch requires a practice set that one of them has not passed; the message names them.
    """
    unqualified = [
        person
        for person in reviewers
        if not practice_storage.is_qualified(db, batch_id=batch.id, person_id=person.id)
    ]
    if unqualified:
        raise Refused(
            f"Batch {batch.name} requires a passed practice set ({_format_required(db, batch.id)}). Without "
            f"one: {format_names(unqualified)}. Assign a practice set first, or exempt the reviewer with a "
            "reason (page Batches, tab Practice, or cli.py practice)."
        )


def describe_missing_practice(db: Session, *, person: Person, batch: Batch) -> str:
    """Return the message to a reviewer: why a batch is locked, and what to do."""
    required_ids = practice_storage.load_requirements(db).get(batch.id, [])
    results = {
        result.practice_id: result for result in practice_storage.list_results(db, person_id=person.id)
    }
    names = {practice.id: practice.name for practice in practice_storage.list_practice_sets(db)}
    assigned = practice_storage.list_assigned_sets(db, person_id=person.id)
    to_judge = [
        names[practice_id] for practice_id in required_ids if practice_id in assigned - results.keys()
    ]
    failed = [names[practice_id] for practice_id in required_ids if practice_id in results]
    text = f"Batch {batch.name} is locked until you have passed a practice set."
    if failed:
        text += f" Not passed: {', '.join(failed)}."
    if to_judge:
        return f"{text} Judge practice set {' or '.join(to_judge)} next."
    return f"{text} Ask a coordinator for {'another practice set' if failed else 'one'}."


def _format_required(db: Session, batch_id: int) -> str:
    required_ids = practice_storage.load_requirements(db).get(batch_id, [])
    return " or ".join(
        practice.name for practice in practice_storage.list_practice_sets(db) if practice.id in required_ids
    )
