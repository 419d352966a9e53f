"""Loads and locks a reviewer's question; every write of a reviewer begins with this."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch, BatchState
from domain.errors import Refused
from domain.people import Person
from domain.questions import Question
from review import rules
from storage.audit.contents import question_subject
from storage.review import claims
from storage.review.assignments import AssignedQuestion
from storage.review.assignments import set_state as store_state
from storage.review.question_work import (
    BatchForPerson,
    QuestionOnExam,
    QuestionWork,
    batch_for_person,
    question_work,
)
from storage.review.shared_queues import SharedQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldQuestion:
    """A reviewer's question, locked in this transaction.

    ``key`` identifies it in storage, ``subject`` in the audit trail. ``late``: the claim of a shared queue
    has expired and somebody else has the question; a verdict is still accepted, so that no work is lost.
    ``assigned`` is the current assignment, ``work`` the data as read.
    """

    place: BatchForPerson
    work: QuestionWork
    assigned: AssignedQuestion
    key: dict[str, int]
    subject: str
    late: bool

    @property
    def batch(self) -> Batch:
        """The question's batch."""
        return self.place.batch

    @property
    def queue(self) -> SharedQueue | None:
        """The batch's shared queue, if it has one."""
        return self.place.queue


def hold_batch(db: Session, *, person: Person, batch_id: int) -> BatchForPerson:
    """Load a batch and lock it, so that nobody closes or changes it until the transaction ends.

    Raises:
        NotFound: there is no such batch; the text is the same as for a question that is not the person's.
    """
    place = batch_for_person(db, batch_id=batch_id, person_id=person.id, hold=True)
    if place is None:
        raise rules.not_theirs(person, batch_id=batch_id)
    return place


def hold_question(  # allow writes-without-record: an extended claim is the same claim
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_number: int,
    now: datetime,
    active: bool = True,
    place: BatchForPerson | None = None,
) -> HeldQuestion:
    """Load a reviewer's question and lock it until the transaction ends.

    Args:
        db: a session that writes.
        person: the reviewer.
        batch_id: its batch.
        question_number: its number.
        now: the time; a claim of a shared queue is extended from now on.
        active: whether the person did something; otherwise the claim is not extended.
        place: the result of :func:`hold_batch` in this transaction, if there is one.

    Raises:
        NotFound: there is no such question, or it never was the person's; the text does not state which.
    """
    place = place or hold_batch(db, person=person, batch_id=batch_id)
    key = {"batch_id": batch_id, "question_id": question_number, "person_id": person.id}
    queue = place.queue
    if queue is not None and active:  # before the assignment is locked, in the same order as claim_next
        claims.renew(db, **key, expires_at=now + queue.idle)
    work = question_work(db, **key, lock=True)
    if work is None:
        raise rules.not_theirs(person, batch_id=batch_id)
    assigned, late = work.assigned, False
    if assigned.state is AssignmentState.WITHDRAWN and queue is not None:
        late = place.shares
        if late and active and claims.take_again(db, **key, expires_at=now + queue.idle, now=now):
            _store(db, key, AssignmentState.OPEN, now=now)
            assigned, late = replace(assigned, state=AssignmentState.OPEN), False
    return HeldQuestion(
        place=place,
        work=work,
        assigned=assigned,
        key=key,
        subject=question_subject(batch_id=batch_id, question_number=question_number),
        late=late,
    )


def whole(asked: QuestionOnExam) -> Question:
    """The question with its key.

    Raises:
        ValueError: it was loaded without the key.
    """
    if asked.question is None:
        raise ValueError("the question was read without its key")
    return asked.question


def may_open(place: BatchForPerson, work: QuestionWork) -> bool:
    """Whether the person may open the question: it is theirs, or was theirs in a shared queue."""
    return work.assigned.state is not AssignmentState.WITHDRAWN or place.shares


def check_open(held: HeldQuestion) -> None:
    """Check that a question can be written.

    Raises:
        Refused: the batch is closed, or the question was withdrawn.
    """
    if held.batch.state is BatchState.CLOSED:
        raise Refused(
            f"Not saved: batch {held.batch.name} is closed. A coordinator can open it again; "
            "what you have entered stays in this window until then."
        )
    if held.assigned.state is AssignmentState.WITHDRAWN and not held.late:
        raise Refused(
            "Not saved: this question was taken back or given to somebody else. Go on with the next one, "
            "or ask a coordinator."
        )


def set_state(db: Session, held: HeldQuestion, state: AssignmentState, *, now: datetime) -> None:
    """Set the state of the person's assignment, and update their claim."""
    if held.assigned.state is state:
        return
    if held.queue is not None:
        if state is AssignmentState.SKIPPED:  # another reviewer must judge it
            claims.release(
                db,
                batch_id=held.key["batch_id"],
                person_id=held.key["person_id"],
                question_id=held.key["question_id"],
            )
        else:
            if held.assigned.state is AssignmentState.SKIPPED:
                claims.take_again(db, **held.key, expires_at=now + held.queue.idle, now=now)
            claims.finish(db, **held.key)
    _store(db, held.key, state, now=now)


def _store(db: Session, key: dict[str, int], state: AssignmentState, *, now: datetime) -> None:
    store_state(
        db,
        person_id=key["person_id"],
        batch_id=key["batch_id"],
        question_ids=[key["question_id"]],
        state=state,
        now=now,
    )
