"""Functions that all ways of assigning questions share: load the current assignments, create new ones."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from review.split import Held, Split, holders_of
from storage.review.assignments import add_assignments, all_assignments, batch_members, set_state


def everybody_holds(db: Session, batch: Batch) -> Held:
    """Load all assignments of a batch."""
    states: dict[int, dict[int, AssignmentState]] = {}
    for question_number, person_number, state in all_assignments(db, batch_id=batch.id):
        states.setdefault(question_number, {})[person_number] = state
    on_exam: dict[int, set[int]] = {}
    for member in batch_members(db, batch_id=batch.id):
        on_exam.setdefault(member.exam_number, set()).update(
            holders_of(states.get(member.question_number, {}))
        )
    return Held(states=states, on_exam={exam: frozenset(people) for exam, people in on_exam.items()})


def give(db: Session, batch: Batch, held: Held, parts: Split, *, now: datetime) -> None:
    """Create the assignments of a split, and open withdrawn assignments again."""
    for person_number, group in parts.given.items():
        # The row of a withdrawn question still exists and is opened again.
        again = {
            each.question_number
            for each in group
            if held.states.get(each.question_number, {}).get(person_number) is AssignmentState.WITHDRAWN
        }
        set_state(
            db,
            person_id=person_number,
            batch_id=batch.id,
            question_ids=list(again),
            state=AssignmentState.OPEN,
            now=now,
        )
        fresh = [(each.question_number, each.position) for each in group if each.question_number not in again]
        add_assignments(db, batch_id=batch.id, person_id=person_number, questions=fresh, now=now)
