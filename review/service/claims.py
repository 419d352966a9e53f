"""Services for members of a shared queue: they claim the next question and return claimed questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.batches import AssignmentState, BatchState
from domain.errors import Refused
from domain.hidden import HiddenQuestion
from domain.people import Action, Person, require
from review.service.locked_questions import check_writable, lock_question
from storage.audit.contents import question_subject
from storage.review import assignments, claims, shared_queues
from storage.review.hidden import assign_hidden, list_unassigned_hidden
from storage.review.hidden_sources import list_open_hidden, load_queue_position
from storage.review.practice import is_qualified
from storage.review.verdicts import find_last_judged_question
from storage.sampling.batches import load_batch

#: The maximum number of questions that a reviewer can claim without judging one. At this number, the reviewer
#: gets the first of these questions again.
_MAX_CLAIMS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class NextClaim:
    """The id of the question that the person has claimed, or None.

    If ``question`` is None, ``free_at`` is the time at which another person's claim may expire; it is None if
    there are no more questions for the person.
    """

    question: int | None
    free_at: datetime | None = None


def has_shared_queue(db: Session, *, batch_id: int) -> bool:
    """Whether the batch has a shared queue."""
    return shared_queues.find_shared_queue(db, batch_id=batch_id) is not None


def claim_next(
    db: Session, *, person: Person, batch_id: int, after: int | None = None, now: datetime
) -> NextClaim:
    """Claim the next question of a shared queue: a question that the person already holds, or a free one.

    Free questions of the same exam come first. If a hidden question is due, it is assigned instead. The row
    of the claimed judgement is locked, so each free judgement is claimed only once.

    Args:
        db: a session for writing.
        person: the reviewer.
        batch_id: the id of the batch. The result is empty if the batch is closed or has no shared queue, or
            if the person is not a member of the queue.
        after: the id of the question that the person leaves; it is not returned while there is another.
        now: the current time, at which the claim begins; it lasts for the idle time of the queue.
    """
    require(person, Action.JUDGE)
    queue = shared_queues.find_shared_queue(db, batch_id=batch_id)
    if queue is None:
        return NextClaim(question=None)
    assignments.lock_batch_shared(db, batch_id=batch_id)
    reviewer_key = {"batch_id": batch_id, "person_id": person.id}
    if not shared_queues.is_member(db, **reviewer_key, lock=True) or not is_qualified(db, **reviewer_key):
        return NextClaim(question=None)
    if load_batch(db, batch_id=batch_id).state is BatchState.CLOSED:
        return NextClaim(question=None)
    expires_at = now + queue.idle_timeout
    claimed = (*claims.list_claimed_questions(db, **reviewer_key), *list_open_hidden(db, **reviewer_key))
    other_claims = [number for number in claimed if number != after]
    if other_claims and (after not in claimed or len(claimed) >= _MAX_CLAIMS):
        claims.renew_claim(db, **reviewer_key, question_id=other_claims[0], expires_at=expires_at)
        return NextClaim(question=other_claims[0])
    previous_question = after or find_last_judged_question(db, **reviewer_key)
    exam = (
        assignments.load_exam_row_ids(db, question_ids=[previous_question]).get(previous_question)
        if previous_question
        else None
    )
    pending_hidden = list_unassigned_hidden(db, **reviewer_key)
    if pending_hidden and _is_due(db, pending_hidden[0], exam):
        return _assign_hidden(db, person, pending_hidden[0], previous_question, now=now)
    claim = claims.take_claim(db, **reviewer_key, preferred_exam=exam, expires_at=expires_at, now=now)
    if claim is not None:
        _assign_claim(db, person, batch_id, claim, now=now)
        return NextClaim(question=claim.question_row_id)
    if pending_hidden:  # the queue has no further question
        return _assign_hidden(db, person, pending_hidden[0], previous_question, now=now)
    if claimed:
        number = other_claims[0] if other_claims else claimed[0]
        claims.renew_claim(db, **reviewer_key, question_id=number, expires_at=expires_at)
        return NextClaim(question=number)
    free_at = claims.find_next_expiry(db, **reviewer_key)
    if free_at is None and claims.count_claimable(db, **reviewer_key):
        free_at = now  # a question is being claimed concurrently; the caller should try again
    return NextClaim(question=None, free_at=free_at)


def may_hand_back(db: Session, *, person: Person, batch_id: int, question_row_id: int) -> bool:
    """Whether the person has claimed the question from a shared queue and has not judged it yet."""
    require(person, Action.JUDGE)
    reviewer_key = {"batch_id": batch_id, "person_id": person.id}
    return question_row_id in (
        *claims.list_claimed_questions(db, **reviewer_key),
        *list_open_hidden(db, **reviewer_key),
    )


def hand_back(db: Session, *, person: Person, batch_id: int, question_row_id: int, now: datetime) -> None:
    """Return a claimed question to the shared queue. Drafts are kept.

    Raises:
        NotFound: the question is not assigned to the person.
        Refused: the batch is closed, or the question is not from a shared queue, or is already judged or
            skipped.
    """
    require(person, Action.JUDGE)
    locked = lock_question(db, person=person, batch_id=batch_id, question_row_id=question_row_id, now=now)
    check_writable(locked)
    reviewer_key = {"batch_id": batch_id, "person_id": person.id}
    was_released = claims.release_claims(db, **reviewer_key, question_id=question_row_id)
    # A hidden question can be returned like any other, so that it cannot be recognised. It is not assigned
    # again.
    if not was_released and question_row_id not in list_open_hidden(db, **reviewer_key):
        raise Refused(
            "Only a question from a shared queue that is not judged yet can be returned. Skip it "
            "instead, and give a reason."
        )
    _set_state(db, person.id, batch_id, question_row_id, AssignmentState.WITHDRAWN, now=now)
    record_action(db, by=person, action="hand question back", subject=locked.subject, now=now)


def _is_due(db: Session, hidden: HiddenQuestion, exam: int | None) -> bool:
    """Whether the person has judged enough questions, and no question of the current exam is free."""
    reviewer_key = {"batch_id": hidden.batch_id, "person_id": hidden.person_id}
    states, _ = assignments.count_by_state(db, **reviewer_key)
    if states.get(AssignmentState.DONE, 0) < hidden.min_judged_count:
        return False
    return exam is None or not claims.has_free_on_exam(db, **reviewer_key, exam_row_id=exam)


def _assign_hidden(
    db: Session, person: Person, hidden: HiddenQuestion, previous_question: int | None, *, now: datetime
) -> NextClaim:
    reviewer_key = {"batch_id": hidden.batch_id, "person_id": person.id}
    position = load_queue_position(db, **reviewer_key, question_id=previous_question) + 1
    assign_hidden(db, hidden=hidden, position=position, now=now)
    record_action(
        db, by=person, action="claim question", new={"turn": 1}, now=now,
        subject=question_subject(batch_id=hidden.batch_id, question_row_id=hidden.question_row_id),
    )  # fmt: skip
    return NextClaim(question=hidden.question_row_id)


def _assign_claim(db: Session, person: Person, batch_id: int, claim: claims.Claim, *, now: datetime) -> None:
    """Create the assignment of a claim, and withdraw the assignment of a person whose claim has expired."""
    number = claim.question_row_id
    if claim.person_id is not None and claim.person_id != person.id:
        previous_assignment = assignments.find_assignment(
            db, person_id=claim.person_id, batch_id=batch_id, question_id=number, lock=True
        )
        if previous_assignment is not None and previous_assignment.state is AssignmentState.OPEN:
            _set_state(db, claim.person_id, batch_id, number, AssignmentState.WITHDRAWN, now=now)
    if assignments.find_assignment(db, person_id=person.id, batch_id=batch_id, question_id=number) is None:
        assignments.add_assignments(
            db, person_id=person.id, batch_id=batch_id, questions=[(number, claim.position)], now=now
        )
    else:
        _set_state(db, person.id, batch_id, number, AssignmentState.OPEN, now=now)
    record_action(
        db,
        by=person,
        action="claim question",
        subject=question_subject(batch_id=batch_id, question_row_id=number),
        old=claim.person_id and {"person": claim.person_id},
        new={"turn": claim.turn},
        now=now,
    )


def _set_state(
    db: Session, person_id: int, batch_id: int, number: int, state: AssignmentState, *, now: datetime
) -> None:
    assignments.set_state(
        db, person_id=person_id, batch_id=batch_id, question_ids=[number], state=state, now=now
    )
