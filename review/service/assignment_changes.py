"""Services that assign questions of a batch to reviewers, reassign them and withdraw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service import load_person_by_name
from accounts.service.audit import record_action
from domain.batches import AssignmentState, Batch
from domain.count_texts import count_text
from domain.errors import InvalidValue, Refused
from domain.people import Action, Person, require
from review.distribution import (
    CurrentAssignments,
    Distribution,
    UnderassignedQuestion,
    distribute_questions,
    format_names,
    list_current_holders,
    map_names_to_questions,
)
from review.service.assignments import create_assignments, load_current_assignments
from review.service.batches import batch_subject
from review.service.coordinator_lookups import load_reviewers, lock_open_batch
from storage.review.assignments import list_batch_members, set_state
from storage.review.claims import list_claimed_questions, release_claims
from storage.review.hidden import list_unassigned_hidden, remove_hidden
from storage.review.hidden_sources import list_open_hidden
from storage.review.shared_queues import count_free_by_question, remove_pool_member
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignSummary:
    """The number of assigned questions by sign-in name. ``notes`` has sentences about what is missing."""

    batch: str
    assigned: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of assignments; a question given to two people counts twice."""
        return sum(self.assigned.values())


def assign(
    db: Session, *, by: Person, batch: str, to: Sequence[str], overlap: int = 1, now: datetime
) -> AssignSummary:
    """Assign every question that has fewer than ``overlap`` reviewers to some of these people.

    Locks the batch's row. Questions of one exam are assigned to the same person, and people get nearly equal
    numbers of questions. Existing assignments are kept. To add a second reviewer later, assign again with
    ``overlap=2``.

    Args:
        db: a session for writing.
        by: the acting person.
        batch: the name of the batch.
        to: the sign-in names of reviewers.
        overlap: the number of reviewers per question, including those of a shared queue.
        now: the current time.

    Raises:
        NotFound: the batch or a person does not exist.
        Refused: the batch is closed, a person is not a reviewer or is disabled, or no question can be
            assigned.
        InvalidValue: ``to`` is empty, or the overlap is below 1.
    """
    require(by, Action.ASSIGN)
    if overlap < 1:
        raise InvalidValue("overlap", f"must be 1 or more, not {overlap}")
    loaded_batch = lock_open_batch(db, batch)
    people = load_reviewers(db, to, batch=loaded_batch)
    current = load_current_assignments(db, loaded_batch)
    underassigned = _list_underassigned(db, loaded_batch, current, overlap)
    if not underassigned:
        return AssignSummary(
            batch=batch,
            assigned={person.name: 0 for person in people},
            notes=(_describe_full_overlap(overlap),),
        )
    distribution = distribute_questions(
        underassigned, people=[person.id for person in people], reviewers_by_exam=current.reviewers_by_exam
    )
    if not any(distribution.by_person.values()):
        raise Refused(
            f"The questions of batch {batch} that need a further reviewer"
            f" ({count_text(len(distribution.unplaced), 'question')}) are already assigned to"
            f" {format_names(people)}. Choose another reviewer."
        )
    create_assignments(db, loaded_batch, current, distribution, by_id=by.id, now=now)
    new = {"overlap": overlap, "given": map_names_to_questions(distribution, people)}
    record_action(db, by=by, action="assign questions", subject=batch_subject(loaded_batch), new=new, now=now)
    notes: tuple[str, ...] = ()
    if distribution.unplaced:
        notes = (f"{_describe_unplaced(distribution, overlap)} Choose further reviewers.",)
    return AssignSummary(
        batch=batch,
        assigned={person.name: len(distribution.by_person[person.id]) for person in people},
        notes=notes,
    )


def preview_assign(
    db: Session, *, by: Person, batch: str, to: Sequence[str], overlap: int = 1
) -> AssignSummary:
    """Compute what :func:`assign` would assign. Nothing is written.

    Raises:
        NotFound: the batch or a person does not exist.
        Refused: a person is not a reviewer, or is disabled.
        InvalidValue: ``to`` is empty.
    """
    require(by, Action.ASSIGN)
    loaded_batch = load_batch(db, name=batch)
    people = load_reviewers(db, to, batch=loaded_batch)
    current = load_current_assignments(db, loaded_batch)
    underassigned = _list_underassigned(db, loaded_batch, current, overlap)
    distribution = distribute_questions(
        underassigned, people=[person.id for person in people], reviewers_by_exam=current.reviewers_by_exam
    )
    notes: tuple[str, ...] = ()
    if not underassigned:
        notes = (_describe_full_overlap(overlap),)
    elif distribution.unplaced:
        notes = (_describe_unplaced(distribution, overlap),)
    return AssignSummary(
        batch=batch,
        assigned={person.name: len(distribution.by_person[person.id]) for person in people},
        notes=notes,
    )


def reassign(
    db: Session, *, by: Person, batch: str, from_: str, to: Sequence[str], now: datetime
) -> AssignSummary:
    """Move one person's open questions to other people. Done and skipped questions stay.

    Locks the batch's row. A question that is already assigned to all of these people stays with the person.
    Hidden questions are not moved; they are removed if all other open questions are moved.

    Args:
        db: a session for writing.
        by: the acting person.
        batch: the name of the batch.
        from_: the sign-in name of the person, who may be disabled or no longer a reviewer.
        to: the sign-in names of the other reviewers.
        now: the current time.

    Raises:
        NotFound: the batch or a person does not exist.
        InvalidValue: ``to`` is empty or contains the person.
        Refused: the batch is closed, one of the others is not a reviewer, the person takes questions from the
            shared queue or has no open question, or no question can be moved.
    """
    require(by, Action.ASSIGN)
    loaded_batch = lock_open_batch(db, batch)
    previous_reviewer = load_person_by_name(db, name=from_)
    people = load_reviewers(db, to, batch=loaded_batch)
    if previous_reviewer.id in {person.id for person in people}:
        raise InvalidValue("to", f"{previous_reviewer.name} cannot be assigned their own questions")
    if list_claimed_questions(db, batch_id=loaded_batch.id, person_id=previous_reviewer.id):
        raise Refused(
            f"{previous_reviewer.name} takes questions of batch {batch} from the shared queue. Unassign them;"
            " they return to the queue."
        )
    current = load_current_assignments(db, loaded_batch)
    to_move = _list_open_questions(db, loaded_batch, current, previous_reviewer)
    distribution = distribute_questions(
        to_move, people=[person.id for person in people], reviewers_by_exam=current.reviewers_by_exam
    )
    if not any(distribution.by_person.values()):
        raise Refused(
            f"All open questions of {previous_reviewer.name} are already assigned to {format_names(people)}. "
            "Choose another reviewer."
        )
    moved_row_ids = [
        question.question_row_id for group in distribution.by_person.values() for question in group
    ]
    _withdraw_questions(db, loaded_batch, previous_reviewer, moved_row_ids, now=now)
    if not distribution.unplaced:
        _remove_open_hidden(db, loaded_batch, previous_reviewer, by, now=now)
    create_assignments(db, loaded_batch, current, distribution, by_id=by.id, now=now)
    old, new = {previous_reviewer.name: sorted(moved_row_ids)}, map_names_to_questions(distribution, people)
    record_action(
        db, by=by, action="reassign questions", subject=batch_subject(loaded_batch), old=old, new=new, now=now
    )
    notes = (
        (
            (
                f"Left with {previous_reviewer.name}: {count_text(len(distribution.unplaced), 'question')},"
                " because all others are already assigned."
            ),
        )
        if distribution.unplaced
        else ()
    )
    return AssignSummary(
        batch=batch,
        assigned={person.name: len(distribution.by_person[person.id]) for person in people},
        notes=notes,
    )


def withdraw(db: Session, *, by: Person, batch: str, from_: str, now: datetime) -> int:
    """Withdraw one person's open questions. Done and skipped questions stay. Locks the batch's row.

    The person is also removed from the shared queue of the batch, and open hidden questions are removed.

    Returns:
        The number of withdrawn questions.

    Raises:
        NotFound: the batch or a person does not exist.
        Refused: the batch is closed, or the person has no open question and is not in the shared queue.
    """
    require(by, Action.ASSIGN)
    loaded_batch = lock_open_batch(db, batch)
    reviewer = load_person_by_name(db, name=from_)
    was_member = remove_pool_member(db, batch_id=loaded_batch.id, person_id=reviewer.id, now=now)
    release_claims(db, batch_id=loaded_batch.id, person_id=reviewer.id)
    open_questions = _list_open_questions(
        db, loaded_batch, load_current_assignments(db, loaded_batch), reviewer, may_be_none=was_member
    )
    withdrawn_row_ids = [question.question_row_id for question in open_questions]
    _withdraw_questions(db, loaded_batch, reviewer, withdrawn_row_ids, now=now)
    _remove_open_hidden(db, loaded_batch, reviewer, by, now=now)
    old = {reviewer.name: sorted(withdrawn_row_ids)}
    record_action(
        db, by=by, action="withdraw questions", subject=batch_subject(loaded_batch), old=old, now=now
    )
    return len(withdrawn_row_ids)


def _list_underassigned(
    db: Session, batch: Batch, current: CurrentAssignments, overlap: int
) -> list[UnderassignedQuestion]:
    underassigned = []
    free_by_question = count_free_by_question(db, batch_id=batch.id)
    for member in list_batch_members(db, batch_id=batch.id):
        holders = list_current_holders(current.states.get(member.question_row_id, {}))
        missing_reviewers = overlap - len(holders) - free_by_question.get(member.question_row_id, 0)
        if missing_reviewers > 0:
            underassigned.append(
                UnderassignedQuestion(
                    question_row_id=member.question_row_id,
                    exam_row_id=member.exam_row_id,
                    position=member.position,
                    missing_reviewers=missing_reviewers,
                    holders=holders,
                )
            )
    return underassigned


def _list_open_questions(
    db: Session, batch: Batch, current: CurrentAssignments, person: Person, *, may_be_none: bool = False
) -> list[UnderassignedQuestion]:
    open_questions = [
        UnderassignedQuestion(
            question_row_id=member.question_row_id,
            exam_row_id=member.exam_row_id,
            position=member.position,
            missing_reviewers=1,
            holders=list_current_holders(states),
        )
        for member in list_batch_members(db, batch_id=batch.id)
        if (states := current.states.get(member.question_row_id, {})).get(person.id) is AssignmentState.OPEN
    ]
    if not open_questions and not may_be_none:
        raise Refused(f"{person.name} has no open questions in batch {batch.name}.")
    return open_questions


def _withdraw_questions(
    db: Session, batch: Batch, person: Person, question_row_ids: Sequence[int], *, now: datetime
) -> None:
    set_state(
        db,
        person_id=person.id,
        batch_id=batch.id,
        question_ids=question_row_ids,
        state=AssignmentState.WITHDRAWN,
        now=now,
    )


def _remove_open_hidden(db: Session, batch: Batch, person: Person, by: Person, *, now: datetime) -> None:
    """Remove a person's open hidden questions, which could be recognised as the only questions left."""
    open_row_ids = list_open_hidden(db, batch_id=batch.id, person_id=person.id)
    unassigned_row_ids = [
        hidden.question_row_id
        for hidden in list_unassigned_hidden(db, batch_id=batch.id, person_id=person.id)
    ]
    _withdraw_questions(db, batch, person, open_row_ids, now=now)
    remove_hidden(
        db,
        numbers=[*open_row_ids, *unassigned_row_ids],
        by=by.id or None,
        reason="the open questions were unassigned",
        now=now,
    )


def _describe_full_overlap(overlap: int) -> str:
    return f"Every question already has at least {count_text(overlap, 'reviewer')}."


def _describe_unplaced(distribution: Distribution, overlap: int) -> str:
    n_unplaced = len(distribution.unplaced)
    verb = "has" if n_unplaced == 1 else "have"
    return f"{count_text(n_unplaced, 'question')} still {verb} fewer than {count_text(overlap, 'reviewer')}."
