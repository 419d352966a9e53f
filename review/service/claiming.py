"""Services for a reviewer in a shared queue: claiming the next question, and handing one back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.batches import AssignmentState, BatchState
from domain.errors import Refused
from domain.hidden import HiddenQuestion
from domain.people import Action, Person, require
from review.service.held import check_open, hold_question
from storage.audit.contents import question_subject
from storage.review import assignments, claims, shared_queues
from storage.review.hidden import give_hidden, not_given_yet
from storage.review.hidden_sources import last_place, open_hidden
from storage.review.verdicts import last_judged_question
from storage.sampling.batches import load_batch

#: The most questions that a reviewer can claim without judging one; after that, the first of them is given
#: again.
_MOST_HELD = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class NextClaim:
    """The question that the person has claimed.

    ``question`` is None if there is none. ``free_at`` is then the time when a question that somebody else
    holds may become free, None if nothing is left that the person could take.
    """

    question: int | None
    free_at: datetime | None = None


def is_shared(db: Session, *, batch_id: int) -> bool:
    """Whether the batch has a shared queue."""
    return shared_queues.shared_queue(db, batch_id=batch_id) is not None


def claim_next(
    db: Session, *, person: Person, batch_id: int, after: int | None = None, now: datetime
) -> NextClaim:
    """Claim the next question of a shared queue: one that the person already holds, else a free one.

    Questions of the same exam come first. A hidden question is given if one is due. Locks the batch, so a
    free question is claimed once.

    Args:
        db: a session that writes.
        person: the reviewer.
        batch_id: the batch; the result is empty if it is closed, has no shared queue, or the person is not in
            it.
        after: the question that the person comes from; it is not given again while there is another.
        now: the time; the claim lasts for the queue's idle time from now on.
    """
    require(person, Action.JUDGE)
    queue = shared_queues.shared_queue(db, batch_id=batch_id)
    if queue is None:
        return NextClaim(question=None)
    assignments.hold_batch(db, batch_id=batch_id)
    mine = {"batch_id": batch_id, "person_id": person.id}
    if not shared_queues.is_member(db, **mine, lock=True):
        return NextClaim(question=None)
    if load_batch(db, batch_id=batch_id).state is BatchState.CLOSED:
        return NextClaim(question=None)
    expires_at = now + queue.idle
    held = (*claims.held_claims(db, **mine), *open_hidden(db, **mine))
    others = [number for number in held if number != after]
    if others and (after not in held or len(held) >= _MOST_HELD):
        claims.renew(db, **mine, question_id=others[0], expires_at=expires_at)
        return NextClaim(question=others[0])
    came_from = after or last_judged_question(db, **mine)
    exam = assignments.exams_of(db, question_ids=[came_from]).get(came_from) if came_from else None
    waiting = not_given_yet(db, **mine)
    if waiting and _is_due(db, waiting[0], exam):
        return _give_hidden(db, person, waiting[0], came_from, now=now)
    taken = claims.take_claim(db, **mine, beside_exam=exam, expires_at=expires_at, now=now)
    if taken is not None:
        _hand_over(db, person, batch_id, taken, now=now)
        return NextClaim(question=taken.question_number)
    if waiting:  # the queue has no other question
        return _give_hidden(db, person, waiting[0], came_from, now=now)
    if held:
        number = others[0] if others else held[0]
        claims.renew(db, **mine, question_id=number, expires_at=expires_at)
        return NextClaim(question=number)
    free_at = claims.others_hold(db, **mine)
    if free_at is None and claims.count_takeable(db, **mine):
        free_at = now  # others may be about to take it: the caller should try again
    return NextClaim(question=None, free_at=free_at)


def may_hand_back(db: Session, *, person: Person, batch_id: int, question_number: int) -> bool:
    """Whether the person has claimed the question from a shared queue and not judged it yet."""
    require(person, Action.JUDGE)
    mine = {"batch_id": batch_id, "person_id": person.id}
    return question_number in (*claims.held_claims(db, **mine), *open_hidden(db, **mine))


def hand_back(db: Session, *, person: Person, batch_id: int, question_number: int, now: datetime) -> None:
    """Return a claimed question to the shared queue; drafts are kept.

    Raises:
        NotFound: the question is not the person's.
        Refused: the batch is closed, or the question is not from a shared queue, or judged or skipped
            already.
    """
    require(person, Action.JUDGE)
    held = hold_question(db, person=person, batch_id=batch_id, question_number=question_number, now=now)
    check_open(held)
    mine = {"batch_id": batch_id, "person_id": person.id}
    handed = claims.release(db, **mine, question_id=question_number)
    # A hidden question can be handed back like any other, so that it can't be recognised; it does not come
    # again.
    if not handed and question_number not in open_hidden(db, **mine):
        raise Refused(
            "Only a question from a shared queue that is not judged yet can be handed back. "
            "Skip it instead, and say why."
        )
    _set_state(db, person.id, batch_id, question_number, AssignmentState.WITHDRAWN, now=now)
    record(db, by=person, what="hand question back", subject=held.subject, now=now)


def _is_due(db: Session, hidden: HiddenQuestion, exam: int | None) -> bool:
    """Whether the person has judged enough questions and is not in the middle of an exam."""
    mine = {"batch_id": hidden.batch_id, "person_id": hidden.person_id}
    states, _ = assignments.counts(db, **mine)
    if states.get(AssignmentState.DONE, 0) < hidden.after:
        return False
    return exam is None or not claims.has_free_on_exam(db, **mine, exam_number=exam)


def _give_hidden(
    db: Session, person: Person, hidden: HiddenQuestion, came_from: int | None, *, now: datetime
) -> NextClaim:
    mine = {"batch_id": hidden.batch_id, "person_id": person.id}
    position = last_place(db, **mine, question_id=came_from) + 1
    give_hidden(db, hidden=hidden, position=position, now=now)
    record(
        db, by=person, what="claim question", new={"turn": 1}, now=now,
        subject=question_subject(batch_id=hidden.batch_id, question_number=hidden.number),
    )  # fmt: skip
    return NextClaim(question=hidden.number)


def _hand_over(db: Session, person: Person, batch_id: int, claim: claims.Claim, *, now: datetime) -> None:
    """Create the assignment of a claim, and withdraw that of the person whose claim has expired."""
    number = claim.question_number
    if claim.person_id is not None and claim.person_id != person.id:
        there = assignments.assignment(
            db, person_id=claim.person_id, batch_id=batch_id, question_id=number, lock=True
        )
        if there is not None and there.state is AssignmentState.OPEN:
            _set_state(db, claim.person_id, batch_id, number, AssignmentState.WITHDRAWN, now=now)
    if assignments.assignment(db, person_id=person.id, batch_id=batch_id, question_id=number) is None:
        assignments.add_assignments(
            db, person_id=person.id, batch_id=batch_id, questions=[(number, claim.position)], now=now
        )
    else:
        _set_state(db, person.id, batch_id, number, AssignmentState.OPEN, now=now)
    record(
        db,
        by=person,
        what="claim question",
        subject=question_subject(batch_id=batch_id, question_number=number),
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
