"""Loads and checks the batch and the reviewers in a coordinator's request."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session

from accounts.service import load_person_by_name
from domain.batches import Batch, BatchState
from domain.errors import InvalidValue, Refused
from domain.people import Person, Role
from review.service.qualification import check_reviewers_qualified
from storage.sampling.batches import load_batch


def lock_open_batch(db: Session, name: str) -> Batch:
    """Load an open batch and lock it until the transaction ends, so that no question is assigned twice.

    Raises:
        NotFound: the batch does not exist.
        Refused: the batch is closed.
    """
    batch = load_batch(db, name=name, lock=True)
    if batch.state is BatchState.CLOSED:
        raise Refused(f"Batch {name} is closed. Reopen it first.")
    return batch


def load_reviewers(db: Session, names: Sequence[str], *, batch: Batch | None) -> list[Person]:
    """Return the reviewers with these sign-in names, without duplicates, sorted by name.

    ``batch`` is the batch that they are to review; None for a practice set, which anybody may judge.

    Raises:
        NotFound: a person does not exist.
        Refused: a person is not a reviewer, is disabled, or has not passed a practice set that the batch
            requires.
        InvalidValue: ``names`` is empty.
    """
    people = {person.id: person for person in (load_person_by_name(db, name=name) for name in names)}
    if not people:
        raise InvalidValue("to", "choose at least one reviewer")
    for person in people.values():
        if person.disabled_at is not None:
            raise Refused(f"The account of {person.name} is disabled. Choose another person.")
        if Role.REVIEWER not in person.roles:
            raise Refused(f"{person.name} is not a reviewer. Choose another person.")
    reviewers = sorted(people.values(), key=lambda person: person.name)
    if batch is not None:
        check_reviewers_qualified(db, batch=batch, reviewers=reviewers)
    return reviewers
