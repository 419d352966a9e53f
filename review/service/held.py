"""A question that is the person's: what every write of a reviewer begins with."""

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
    """A question of the person, in its batch; ``key`` names it to storage, ``subject`` to the audit trail.

    A question of a shared queue may be ``late``: its time ran out and somebody else has it. What was judged
    by then still counts, since nobody's work is thrown away. ``assigned`` is as it is now, ``work`` as it
    was read.
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
        """The batch's shared queue; None where it has none."""
        return self.place.queue


def hold_batch(db: Session, *, person: Person, batch_id: int) -> BatchForPerson:
    """The batch as it is for the person; nobody closes or changes it until this transaction ends.

    Raises:
        NotFound: there is no such batch; the text is that of a question which is not the person's.
    """
    place = batch_for_person(db, batch_id=batch_id, person_id=person.id, hold=True)
    if place is None:
        raise rules.not_theirs(person, batch_id=batch_id)
    return place


def hold_question(  # allow writes-without-record: a claim that lasts on is the same claim
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_number: int,
    now: datetime,
    active: bool = True,
    place: BatchForPerson | None = None,
) -> HeldQuestion:
    """The question, if it is the person's; other writers of it wait until this transaction ends.

    A claim of a shared queue has its full time again from ``now``, unless nobody is ``active``. ``place`` is
    what :func:`hold_batch` gave in this transaction, where it was asked for already.

    Raises:
        NotFound: no such question, or it never was the person's; which of the two, is not told.
    """
    place = place or hold_batch(db, person=person, batch_id=batch_id)
    key = {"batch_id": batch_id, "question_id": question_number, "person_id": person.id}
    queue = place.queue
    if queue is not None and active:  # before the assignment is locked: whoever takes a claim over locks so
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
        ValueError: it was read without the key.
    """
    if asked.question is None:
        raise ValueError("the question was read without its key")
    return asked.question


def may_open(place: BatchForPerson, work: QuestionWork) -> bool:
    """Whether it is still the person's: of a shared queue also what they had and let run out."""
    return work.assigned.state is not AssignmentState.WITHDRAWN or place.shares


def check_open(held: HeldQuestion) -> None:
    """Raise Refused where the batch is closed or the question was taken back."""
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
    """Put the person's assignment into that state, and their claim on it with it."""
    if held.assigned.state is state:
        return
    if held.queue is not None:
        if state is AssignmentState.SKIPPED:  # the judgement is still asked for, of somebody else
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
