"""A question that is the person's: what every write of a reviewer begins with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch, BatchState
from domain.errors import Refused
from domain.people import Person
from review import rules
from storage.assignments import AssignedQuestion, assignment, hold_batch
from storage.assignments import set_state as store_state
from storage.batches import load_batch
from storage.recorded import question_subject


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldQuestion:
    """A question of the person, in its batch; ``key`` names it to storage, ``subject`` to the audit trail."""

    batch: Batch
    assigned: AssignedQuestion
    key: dict[str, int]
    subject: str


def hold_question(db: Session, *, person: Person, batch_id: int, question_number: int) -> HeldQuestion:
    """The question, if it is the person's; other writers of it wait until this transaction ends.

    Raises:
        NotFound: no such question, or it never was the person's; which of the two, is not told.
    """
    hold_batch(db, batch_id=batch_id)
    key = {"batch_id": batch_id, "question_id": question_number, "person_id": person.id}
    assigned = assignment(db, **key, lock=True)
    if assigned is None:
        raise rules.not_theirs(person, batch_id=batch_id, question_number=question_number)
    return HeldQuestion(
        batch=load_batch(db, batch_id=batch_id),
        assigned=assigned,
        key=key,
        subject=question_subject(batch_id=batch_id, question_number=question_number),
    )


def check_open(held: HeldQuestion) -> None:
    """Raise Refused where the batch is closed or the question was taken back."""
    if held.batch.state is BatchState.CLOSED:
        raise Refused(
            f"Not saved: batch {held.batch.name} is closed. A coordinator can open it again; "
            "what you have entered stays in this window until then."
        )
    if held.assigned.state is AssignmentState.WITHDRAWN:
        raise Refused(
            "Not saved: this question was taken back or given to somebody else. Go on with the next one, "
            "or ask a coordinator."
        )


def set_state(db: Session, held: HeldQuestion, state: AssignmentState, *, now: datetime) -> None:
    """Put the person's assignment into that state."""
    if held.assigned.state is not state:
        store_state(
            db,
            person_id=held.key["person_id"],
            batch_id=held.key["batch_id"],
            question_ids=[held.key["question_id"]],
            state=state,
            now=now,
        )
