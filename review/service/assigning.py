"""Services for assigning the questions of a batch to reviewers, reassigning and withdrawing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service import person_named
from accounts.service.audit import record
from domain.batches import AssignmentState, Batch
from domain.errors import InvalidValue, Refused
from domain.people import Action, Person, require
from review.service.batches import batch_subject
from review.service.choosing import open_batch, reviewers_named
from review.service.giving import everybody_holds, give
from review.split import Held, Lacking, by_name, holders_of, names_of, questions_text, split
from storage.review.assignments import batch_members, set_state
from storage.review.claims import held_claims, release
from storage.review.hidden import not_given_yet, remove_hidden
from storage.review.hidden_sources import open_hidden
from storage.review.shared_queues import free_in_queue, leave
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignSummary:
    """The number of questions assigned, by sign-in name; ``notes`` state what is missing."""

    batch: str
    given: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of assignments; a question given to two people counts twice."""
        return sum(self.given.values())


def assign(
    db: Session, *, by: Person, batch: str, to: Sequence[str], overlap: int = 1, now: datetime
) -> AssignSummary:
    """Assign every question that has fewer than ``overlap`` reviewers to some of these people.

    Questions of one exam go to the same person, and people get equal numbers. Existing assignments stay. To
    add a second reviewer later, assign again with ``overlap=2``. Locks the batch.

    Args:
        db: a session that writes.
        by: who acts.
        batch: its name.
        to: sign-in names of reviewers.
        overlap: reviewers per question, counting those in a shared queue.
        now: the time.

    Raises:
        NotFound: no such batch or person.
        Refused: the batch is closed, somebody is no reviewer or disabled, or no question could be assigned.
        InvalidValue: no name, or an overlap below 1.
    """
    require(by, Action.ASSIGN)
    if overlap < 1:
        raise InvalidValue("overlap", f"must be 1 or more, not {overlap}")
    found = open_batch(db, batch)
    people = reviewers_named(db, to)
    held = everybody_holds(db, found)
    lacking = _lacking(db, found, held, overlap)
    if not lacking:
        return AssignSummary(
            batch=batch,
            given={person.name: 0 for person in people},
            notes=(f"Every question has {_people(overlap)} or more already.",),
        )
    parts = split(lacking, people=[person.id for person in people], on_exam=held.on_exam)
    if not any(parts.given.values()):
        raise Refused(
            f"{questions_text(len(parts.short))} of batch {batch} need a further reviewer, and "
            f"{names_of(people)} judge them already. Name somebody else."
        )
    give(db, found, held, parts, now=now)
    new = {"overlap": overlap, "given": by_name(parts, people)}
    record(db, by=by, what="assign questions", subject=batch_subject(found), new=new, now=now)
    notes: tuple[str, ...] = ()
    if parts.short:
        notes = (
            f"{questions_text(len(parts.short))} still have fewer than {_people(overlap)}: name others too.",
        )
    return AssignSummary(
        batch=batch, given={person.name: len(parts.given[person.id]) for person in people}, notes=notes
    )


def preview_assign(
    db: Session, *, by: Person, batch: str, to: Sequence[str], overlap: int = 1
) -> AssignSummary:
    """Compute what :func:`assign` would assign; writes nothing.

    Raises:
        NotFound: there is no such batch or person.
        Refused: somebody is no reviewer, or disabled.
        InvalidValue: no name.
    """
    require(by, Action.ASSIGN)
    found = load_batch(db, name=batch)
    people = reviewers_named(db, to)
    held = everybody_holds(db, found)
    lacking = _lacking(db, found, held, overlap)
    parts = split(lacking, people=[person.id for person in people], on_exam=held.on_exam)
    notes: tuple[str, ...] = ()
    if not lacking:
        notes = (f"Every question has {_people(overlap)} or more already.",)
    elif parts.short:
        notes = (f"{questions_text(len(parts.short))} would still have fewer than {_people(overlap)}.",)
    return AssignSummary(
        batch=batch, given={person.name: len(parts.given[person.id]) for person in people}, notes=notes
    )


def reassign(
    db: Session, *, by: Person, batch: str, from_: str, to: Sequence[str], now: datetime
) -> AssignSummary:
    """Move one person's open questions to others; done and skipped questions stay. Locks the batch.

    A question that all of the others already have stays. Hidden questions are not moved: if all of the others
    move, they are removed.

    Args:
        db: a session that writes.
        by: who acts.
        batch: its name.
        from_: sign-in name of the person, who may be disabled or no longer a reviewer.
        to: sign-in names of reviewers.
        now: the time.

    Raises:
        NotFound: there is no such batch or person.
        InvalidValue: no name, or the person themselves.
        Refused: the batch is closed, somebody is no reviewer, the person takes questions from the shared
            queue or has no open question, or nobody can take any.
    """
    require(by, Action.ASSIGN)
    found = open_batch(db, batch)
    giver = person_named(db, name=from_)
    people = reviewers_named(db, to)
    if giver.id in {person.id for person in people}:
        raise InvalidValue("to", f"{giver.name} can't be given their own questions")
    if held_claims(db, batch_id=found.id, person_id=giver.id):
        raise Refused(
            f"{giver.name} takes questions of batch {batch} from its shared queue. Take them back; they go "
            "to whoever is free."
        )
    held = everybody_holds(db, found)
    moving = _open_of(db, found, held, giver)
    parts = split(moving, people=[person.id for person in people], on_exam=held.on_exam)
    if not any(parts.given.values()):
        raise Refused(f"{names_of(people)} judge all of them already. Name somebody else.")
    moved = [each.question_number for group in parts.given.values() for each in group]
    _withdraw(db, found, giver, moved, now=now)
    if not parts.short:
        _no_longer_hidden(db, found, giver, by, now=now)
    give(db, found, held, parts, now=now)
    old, new = {giver.name: sorted(moved)}, by_name(parts, people)
    record(db, by=by, what="reassign questions", subject=batch_subject(found), old=old, new=new, now=now)
    notes = (
        (f"{questions_text(len(parts.short))} stay with {giver.name}: the others judge them already.",)
        if parts.short
        else ()
    )
    return AssignSummary(
        batch=batch, given={person.name: len(parts.given[person.id]) for person in people}, notes=notes
    )


def withdraw(db: Session, *, by: Person, batch: str, from_: str, now: datetime) -> int:
    """Withdraw one person's open questions; done and skipped questions stay. Locks the batch.

    The person also leaves the batch's shared queue, and hidden questions that are still open are removed.

    Returns:
        The number of questions withdrawn.

    Raises:
        NotFound: there is no such batch or person.
        Refused: the batch is closed, or the person has no open question and was in no shared queue.
    """
    require(by, Action.ASSIGN)
    found = open_batch(db, batch)
    giver = person_named(db, name=from_)
    left = leave(db, batch_id=found.id, person_id=giver.id, now=now)
    release(db, batch_id=found.id, person_id=giver.id)
    open_ = _open_of(db, found, everybody_holds(db, found), giver, may_be_none=left)
    taken = [each.question_number for each in open_]
    _withdraw(db, found, giver, taken, now=now)
    _no_longer_hidden(db, found, giver, by, now=now)
    old = {giver.name: sorted(taken)}
    record(db, by=by, what="withdraw questions", subject=batch_subject(found), old=old, now=now)
    return len(taken)


def _lacking(db: Session, batch: Batch, held: Held, overlap: int) -> list[Lacking]:
    lacking = []
    in_queue = free_in_queue(db, batch_id=batch.id)
    for member in batch_members(db, batch_id=batch.id):
        holders = holders_of(held.states.get(member.question_number, {}))
        need = overlap - len(holders) - in_queue.get(member.question_number, 0)
        if need > 0:
            lacking.append(
                Lacking(
                    question_number=member.question_number,
                    exam_number=member.exam_number,
                    position=member.position,
                    need=need,
                    holders=holders,
                )
            )
    return lacking


def _open_of(
    db: Session, batch: Batch, held: Held, person: Person, *, may_be_none: bool = False
) -> list[Lacking]:
    found = [
        Lacking(
            question_number=member.question_number,
            exam_number=member.exam_number,
            position=member.position,
            need=1,
            holders=holders_of(states),
        )
        for member in batch_members(db, batch_id=batch.id)
        if (states := held.states.get(member.question_number, {})).get(person.id) is AssignmentState.OPEN
    ]
    if not found and not may_be_none:
        raise Refused(f"{person.name} has no open question in batch {batch.name}.")
    return found


def _withdraw(
    db: Session, batch: Batch, person: Person, question_numbers: Sequence[int], *, now: datetime
) -> None:
    set_state(
        db,
        person_id=person.id,
        batch_id=batch.id,
        question_ids=question_numbers,
        state=AssignmentState.WITHDRAWN,
        now=now,
    )


def _no_longer_hidden(db: Session, batch: Batch, person: Person, by: Person, *, now: datetime) -> None:
    """Remove a person's open hidden questions: left alone in the queue, they could be recognised."""
    open_ = open_hidden(db, batch_id=batch.id, person_id=person.id)
    waiting = [each.number for each in not_given_yet(db, batch_id=batch.id, person_id=person.id)]
    _withdraw(db, batch, person, open_, now=now)
    remove_hidden(
        db, numbers=[*open_, *waiting], by=by.id or None, why="the open questions were taken back", now=now
    )


def _people(count: int) -> str:
    return f"{count} reviewer" if count == 1 else f"{count} reviewers"
