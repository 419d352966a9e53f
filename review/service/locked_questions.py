"""Loads and locks a reviewer's question, as the first step of every write by a reviewer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch, BatchState
from domain.errors import Refused
from domain.people import Person
from domain.questions import Question
from review import rules
from review.service.qualification import check_qualified
from storage.audit.contents import question_subject
from storage.review import claims
from storage.review.assignments import AssignedQuestion
from storage.review.assignments import set_state as set_assignment_state
from storage.review.question_work import (
    BatchForPerson,
    QuestionWithExam,
    QuestionWork,
    find_batch_for_person,
    find_question_work,
)
from storage.review.shared_queues import SharedQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedQuestion:
    """A reviewer's question, locked in this transaction.

    ``work`` is the stored data of the question, and ``assignment`` its current assignment. ``key`` identifies
    the question in storage, and ``subject`` in the audit trail. ``claim_expired`` is True if the claim from a
    shared queue has expired and another reviewer has the question. A verdict is then still accepted, so that
    no work is lost.
    """

    reviewer_batch: BatchForPerson
    work: QuestionWork
    assignment: AssignedQuestion
    key: dict[str, int]
    subject: str
    claim_expired: bool

    @property
    def batch(self) -> Batch:
        """The question's batch."""
        return self.reviewer_batch.batch

    @property
    def queue(self) -> SharedQueue | None:
        """The batch's shared queue, if it has one."""
        return self.reviewer_batch.queue


def lock_batch(db: Session, *, person: Person, batch_id: int) -> BatchForPerson:
    """Load a batch and lock it, so that it cannot be closed or changed until the transaction ends.

    Raises:
        NotFound: the batch does not exist; the message is the same as for a question of another person.
        Refused: the batch requires a practice set that the person has not passed.
    """
    reviewer_batch = find_batch_for_person(db, batch_id=batch_id, person_id=person.id, lock=True)
    if reviewer_batch is None:
        raise rules.build_question_not_found(person, batch_id=batch_id)
    check_qualified(db, person=person, reviewer_batch=reviewer_batch)
    return reviewer_batch


def lock_question(  # allow writes-without-record: an extended claim is the same claim
    db: Session,
    *,
    person: Person,
    batch_id: int,
    question_row_id: int,
    now: datetime,
    extend_claim: bool = True,
    reviewer_batch: BatchForPerson | None = None,
) -> LockedQuestion:
    """Load a reviewer's question and lock it until the transaction ends.

    Args:
        db: a session for writing.
        person: the reviewer.
        batch_id: the id of the batch.
        question_row_id: the id of the question.
        now: the current time, from which a claim of a shared queue is extended.
        extend_claim: whether to extend the claim, because the person did something.
        reviewer_batch: the result of :func:`lock_batch` in this transaction; None to lock the batch.

    Raises:
        NotFound: the question does not exist or was never assigned to the person; the message does not reveal
            which.
    """
    reviewer_batch = reviewer_batch or lock_batch(db, person=person, batch_id=batch_id)
    key = {"batch_id": batch_id, "question_id": question_row_id, "person_id": person.id}
    queue = reviewer_batch.queue
    if queue is not None and extend_claim:  # locks the claim before the assignment, as claim_next does
        claims.renew_claim(db, **key, expires_at=now + queue.idle_timeout)
    work = find_question_work(db, **key, lock=True)
    if work is None:
        raise rules.build_question_not_found(person, batch_id=batch_id)
    assignment, claim_expired = work.assigned, False
    if assignment.state is AssignmentState.WITHDRAWN and queue is not None:
        claim_expired = reviewer_batch.in_pool
        if (
            claim_expired
            and extend_claim
            and claims.reclaim_question(db, **key, expires_at=now + queue.idle_timeout, now=now)
        ):
            _save_state(db, key, AssignmentState.OPEN, now=now)
            assignment, claim_expired = replace(assignment, state=AssignmentState.OPEN), False
    return LockedQuestion(
        reviewer_batch=reviewer_batch,
        work=work,
        assignment=assignment,
        key=key,
        subject=question_subject(batch_id=batch_id, question_row_id=question_row_id),
        claim_expired=claim_expired,
    )


def require_key(loaded_question: QuestionWithExam) -> Question:
    """Return the question with its key.

    Raises:
        ValueError: the question was loaded without its key.
    """
    if loaded_question.question is None:
        raise ValueError("the question was read without its key")
    return loaded_question.question


def may_open_question(reviewer_batch: BatchForPerson, work: QuestionWork) -> bool:
    """Whether the person may open the question: it is assigned to them, or they are in the shared queue."""
    return work.assigned.state is not AssignmentState.WITHDRAWN or reviewer_batch.in_pool


def check_writable(locked: LockedQuestion) -> None:
    """Check that work on a question can be saved.

    Raises:
        Refused: the batch is closed, or the question was withdrawn.
    """
    if locked.batch.state is BatchState.CLOSED:
        raise Refused(
            f"Not saved: batch {locked.batch.name} is closed. A coordinator can reopen it; your input "
            "stays in this window until then."
        )
    if locked.assignment.state is AssignmentState.WITHDRAWN and not locked.claim_expired:
        raise Refused(
            "Not saved: this question was unassigned or reassigned. Continue with the next one, or ask "
            "a coordinator."
        )


def set_state(db: Session, locked: LockedQuestion, state: AssignmentState, *, now: datetime) -> None:
    """Set the state of the person's assignment, and update their claim."""
    if locked.assignment.state is state:
        return
    if locked.queue is not None:
        if state is AssignmentState.SKIPPED:  # another reviewer must judge it
            claims.release_claims(
                db,
                batch_id=locked.key["batch_id"],
                person_id=locked.key["person_id"],
                question_id=locked.key["question_id"],
            )
        else:
            if locked.assignment.state is AssignmentState.SKIPPED:
                claims.reclaim_question(db, **locked.key, expires_at=now + locked.queue.idle_timeout, now=now)
            claims.finish_claim(db, **locked.key)
    _save_state(db, locked.key, state, now=now)


def _save_state(db: Session, key: dict[str, int], state: AssignmentState, *, now: datetime) -> None:
    set_assignment_state(
        db,
        person_id=key["person_id"],
        batch_id=key["batch_id"],
        question_ids=[key["question_id"]],
        state=state,
        now=now,
    )
