"""The batch and the people that a coordinator names, checked."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import Session

from accounts.service import person_named
from domain.batches import Batch, BatchState
from domain.errors import InvalidValue, Refused
from domain.people import Person, Role
from storage.sampling.batches import load_batch


def open_batch(db: Session, name: str) -> Batch:
    """The open batch of that name; held to the end, so that two coordinators at once give nothing out twice.

    Raises:
        NotFound: there is none.
        Refused: it is closed.
    """
    batch = load_batch(db, name=name, lock=True)
    if batch.state is BatchState.CLOSED:
        raise Refused(f"Batch {name} is closed. Open it again first.")
    return batch


def reviewers_named(db: Session, names: Sequence[str]) -> list[Person]:
    """The people of those names, each once, by name: the order of the command changes nothing.

    Raises:
        NotFound: nobody is called so.
        Refused: somebody is no reviewer, or disabled.
        InvalidValue: no name.
    """
    people = {person.id: person for person in (person_named(db, name=name) for name in names)}
    if not people:
        raise InvalidValue("to", "name at least one reviewer")
    for person in people.values():
        if person.disabled_at is not None:
            raise Refused(f"The account of {person.name} is disabled. Name somebody else.")
        if Role.REVIEWER not in person.roles:
            raise Refused(f"{person.name} is no reviewer. Name somebody else.")
    return sorted(people.values(), key=lambda person: person.name)
