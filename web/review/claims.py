"""Claims the next question of a shared queue before it is shown."""

from __future__ import annotations

from datetime import datetime

from domain.people import Person
from review.service import NextClaim, claim_next, is_shared
from storage.unit_of_work import reading, unit_of_work


def claim(person: Person, batch_id: int, *, after: int | None, now: datetime) -> NextClaim | None:
    """Claim the next question for the person, in a transaction of its own; None without a shared queue.

    ``after`` is the question that the person leaves.
    """
    with reading() as db:
        if not is_shared(db, batch_id=batch_id):
            return None
    with unit_of_work() as db:
        return claim_next(db, person=person, batch_id=batch_id, after=after, now=now)
