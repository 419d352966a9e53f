"""Claims the next question of a shared queue before it is shown."""

from __future__ import annotations

from datetime import datetime

from domain.people import Person
from review.service import NextClaim, claim_next, has_shared_queue
from storage.unit_of_work import read_only_session, unit_of_work


def claim_question(person: Person, batch_id: int, *, after: int | None, now: datetime) -> NextClaim | None:
    """Claim the next question for the person in its own transaction; None if the batch has no shared queue.

    ``after`` is the id of the question that the person leaves.
    """
    with read_only_session() as db:
        if not has_shared_queue(db, batch_id=batch_id):
            return None
    with unit_of_work() as db:
        return claim_next(db, person=person, batch_id=batch_id, after=after, now=now)
