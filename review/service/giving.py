"""Functions that all ways of assigning questions share: current assignments, assigning, texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.people import Person
from review.split import Split
from storage.review.assignments import add_assignments, all_assignments, batch_members, set_state


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """All assignments of a batch: ``states[question][person]``, and the people on each exam."""

    states: dict[int, dict[int, AssignmentState]]
    on_exam: dict[int, frozenset[int]]


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
    """Create the assignments of a split; withdrawn ones are opened again."""
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


def by_name(parts: Split, people: Sequence[Person]) -> dict[str, list[int]]:
    """The question numbers that each person was assigned, by sign-in name."""
    return {person.name: sorted(each.question_number for each in parts.given[person.id]) for person in people}


def holders_of(states: dict[int, AssignmentState]) -> frozenset[int]:
    """The people who have the question: all assigned, except where it was withdrawn."""
    return frozenset(person for person, state in states.items() if state is not AssignmentState.WITHDRAWN)


def names_of(people: Sequence[Person]) -> str:
    """Sign-in names, separated by commas."""
    return ", ".join(person.name for person in people)


def questions_text(count: int) -> str:
    """A count of questions as text: "1,204 questions"."""
    return f"{count:,} question" if count == 1 else f"{count:,} questions"
