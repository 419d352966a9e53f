"""Complete verdicts on the questions of a small world (worlds.py), and functions that save them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from domain.batches import AssignmentState
from domain.ratings import RATING_IDS, Ratings
from domain.verdicts import Decision, ErrorKind, Opinion, Verdict
from domain.vocabulary import Difficulty
from review import service as review
from storage.review.assignments import find_assignment
from storage.review.verdicts import find_last_verdict
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.worlds import NOW, World


def make_acceptance(
    world: World, *, question: int, person: str = "ruth", revision: int = 1, **changes: Any
) -> Verdict:
    """A complete accepting verdict on the question; ``changes`` replace fields of opinion or verdict."""
    opinion: dict[str, Any] = {
        "ratings": Ratings(**dict.fromkeys(RATING_IDS, 4)),
        "domain_specific": True,
        "cognitive_depth": True,
        "difficulty": Difficulty.MEDIUM,
    }
    verdict: dict[str, Any] = {
        "batch_id": world.batch.id,
        "question_row_id": question,
        "person_id": world.people[person].id,
        "revision": revision,
        "decision": Decision.ACCEPT,
        "seconds": 40.0,
        "seconds_looking": 30.0,
        "seconds_away": 5.0,
        "given_at": NOW + timedelta(minutes=revision),
    }
    for name, value in changes.items():
        (verdict if name in {*verdict, "why"} else opinion)[name] = value
    return Verdict(opinion=Opinion(**opinion), **verdict)


def make_rejection(
    world: World, *, question: int, kind: ErrorKind = ErrorKind.SEVERAL_CORRECT, **changes: Any
) -> Verdict:
    """A complete verdict that rejects the question for that kind of error."""
    return make_acceptance(
        world, question=question, decision=Decision.REJECT, errors=frozenset({kind}), **changes
    )


def save_verdict(world: World, verdict: Verdict, person: str = "ruth") -> Verdict:
    """Save the verdict as that person, in a transaction of its own."""
    with unit_of_work(world.engine) as db:
        return review.save_verdict(db, verdict=verdict, person=world.people[person])


def load_verdict(world: World, question: int = 1, person: str = "ruth") -> Verdict | None:
    """That person's latest verdict on the question, read from the database."""
    with read_only_session(world.engine) as db:
        return find_last_verdict(
            db, batch_id=world.batch.id, question_id=question, person_id=world.people[person].id
        )


def load_assignment_state(world: World, question: int = 1, person: str = "ruth") -> AssignmentState | None:
    """The state of the question for that person; None if it was never assigned to them."""
    with read_only_session(world.engine) as db:
        assignment = find_assignment(
            db, batch_id=world.batch.id, question_id=question, person_id=world.people[person].id
        )
    return assignment.state if assignment else None
