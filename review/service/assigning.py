"""Giving the questions of a batch to reviewers, moving them on, taking them back."""

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
from review.split import Lacking, Split, split
from storage.assignments import add_assignments, all_assignments, batch_members, set_state
from storage.batches import load_batch
from storage.claims import held_claims, release
from storage.shared_queues import free_in_queue, leave


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignSummary:
    """What was given out: questions by sign-in name, and what is still lacking, in words."""

    batch: str
    given: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Questions given out; one given to two people counts twice."""
        return sum(self.given.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """Everybody's state at every question: ``states[question][person]``, and who is on which exam."""

    states: dict[int, dict[int, AssignmentState]]
    on_exam: dict[int, frozenset[int]]


def assign(
    db: Session, *, by: Person, batch: str, to: Sequence[str], overlap: int = 1, now: datetime
) -> AssignSummary:
    """Give every question that has fewer than ``overlap`` reviewers to some of these people.

    Questions of one exam go together, evenly by number. To add a second reviewer later, assign again with
    ``overlap=2``. Nothing that is assigned already is moved.

    Raises:
        NotFound: no such batch or person.
        Refused: the batch is closed, somebody is no reviewer or disabled, or nobody could be given anything.
        InvalidValue: no name, or an overlap below 1.
    """
    require(by, Action.ASSIGN)
    if overlap < 1:
        raise InvalidValue("overlap", f"must be 1 or more, not {overlap}")
    found = open_batch(db, batch)
    people = reviewers_named(db, to)
    held = _held(db, found)
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
            f"{_questions(len(parts.short))} of batch {batch} need a further reviewer, and "
            f"{_names(people)} judge them already. Name somebody else."
        )
    _give(db, found, held, parts, now=now)
    new = {"overlap": overlap, "given": _by_name(parts, people)}
    record(db, by=by, what="assign questions", subject=batch_subject(found), new=new, now=now)
    notes: tuple[str, ...] = ()
    if parts.short:
        notes = (
            f"{_questions(len(parts.short))} still have fewer than {_people(overlap)}: name others too.",
        )
    return AssignSummary(
        batch=batch, given={person.name: len(parts.given[person.id]) for person in people}, notes=notes
    )


def preview_assign(
    db: Session, *, by: Person, batch: str, to: Sequence[str], overlap: int = 1
) -> AssignSummary:
    """What :func:`assign` would give to whom; nothing is written."""
    require(by, Action.ASSIGN)
    found = load_batch(db, name=batch)
    people = reviewers_named(db, to)
    held = _held(db, found)
    lacking = _lacking(db, found, held, overlap)
    parts = split(lacking, people=[person.id for person in people], on_exam=held.on_exam)
    notes: tuple[str, ...] = ()
    if not lacking:
        notes = (f"Every question has {_people(overlap)} or more already.",)
    elif parts.short:
        notes = (f"{_questions(len(parts.short))} would still have fewer than {_people(overlap)}.",)
    return AssignSummary(
        batch=batch, given={person.name: len(parts.given[person.id]) for person in people}, notes=notes
    )


def reassign(
    db: Session, *, by: Person, batch: str, from_: str, to: Sequence[str], now: datetime
) -> AssignSummary:
    """Move one person's open questions to others; what is done or skipped stays where it is.

    The person may be disabled, or no reviewer any more. A question that all of the others judge already
    stays where it is.

    Raises:
        NotFound: no such batch or person.
        Refused: the batch is closed, nothing is open, or nobody could take anything.
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
    held = _held(db, found)
    moving = _open_of(db, found, held, giver)
    parts = split(moving, people=[person.id for person in people], on_exam=held.on_exam)
    if not any(parts.given.values()):
        raise Refused(f"{_names(people)} judge all of them already. Name somebody else.")
    moved = [each.question_number for group in parts.given.values() for each in group]
    _withdraw(db, found, giver, moved, now=now)
    _give(db, found, held, parts, now=now)
    old, new = {giver.name: sorted(moved)}, _by_name(parts, people)
    record(db, by=by, what="reassign questions", subject=batch_subject(found), old=old, new=new, now=now)
    notes = (
        (f"{_questions(len(parts.short))} stay with {giver.name}: the others judge them already.",)
        if parts.short
        else ()
    )
    return AssignSummary(
        batch=batch, given={person.name: len(parts.given[person.id]) for person in people}, notes=notes
    )


def withdraw(db: Session, *, by: Person, batch: str, from_: str, now: datetime) -> int:
    """Take back one person's open questions; what is done or skipped stays. They leave a shared queue.

    Returns:
        How many were taken back.

    Raises:
        Refused: the batch is closed, or nothing is open.
    """
    require(by, Action.ASSIGN)
    found = open_batch(db, batch)
    giver = person_named(db, name=from_)
    left = leave(db, batch_id=found.id, person_id=giver.id, now=now)
    release(db, batch_id=found.id, person_id=giver.id)
    open_ = _open_of(db, found, _held(db, found), giver, may_be_none=left)
    taken = [each.question_number for each in open_]
    _withdraw(db, found, giver, taken, now=now)
    old = {giver.name: sorted(taken)}
    record(db, by=by, what="withdraw questions", subject=batch_subject(found), old=old, now=now)
    return len(taken)


def _held(db: Session, batch: Batch) -> _Held:
    states: dict[int, dict[int, AssignmentState]] = {}
    for question_number, person_number, state in all_assignments(db, batch_id=batch.id):
        states.setdefault(question_number, {})[person_number] = state
    on_exam: dict[int, set[int]] = {}
    for member in batch_members(db, batch_id=batch.id):
        on_exam.setdefault(member.exam_number, set()).update(_holders(states.get(member.question_number, {})))
    return _Held(states=states, on_exam={exam: frozenset(people) for exam, people in on_exam.items()})


def _lacking(db: Session, batch: Batch, held: _Held, overlap: int) -> list[Lacking]:
    lacking = []
    in_queue = free_in_queue(db, batch_id=batch.id)
    for member in batch_members(db, batch_id=batch.id):
        holders = _holders(held.states.get(member.question_number, {}))
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
    db: Session, batch: Batch, held: _Held, person: Person, *, may_be_none: bool = False
) -> list[Lacking]:
    found = [
        Lacking(
            question_number=member.question_number,
            exam_number=member.exam_number,
            position=member.position,
            need=1,
            holders=_holders(states),
        )
        for member in batch_members(db, batch_id=batch.id)
        if (states := held.states.get(member.question_number, {})).get(person.id) is AssignmentState.OPEN
    ]
    if not found and not may_be_none:
        raise Refused(f"{person.name} has no open question in batch {batch.name}.")
    return found


def _give(db: Session, batch: Batch, held: _Held, parts: Split, *, now: datetime) -> None:
    for person_number, group in parts.given.items():
        # A question that was taken back is opened again: its row is still there.
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


def _by_name(parts: Split, people: Sequence[Person]) -> dict[str, list[int]]:
    """The numbers of the questions that each was given."""
    return {person.name: sorted(each.question_number for each in parts.given[person.id]) for person in people}


def _holders(states: dict[int, AssignmentState]) -> frozenset[int]:
    return frozenset(person for person, state in states.items() if state is not AssignmentState.WITHDRAWN)


def _names(people: Sequence[Person]) -> str:
    return ", ".join(person.name for person in people)


def _people(count: int) -> str:
    return f"{count} reviewer" if count == 1 else f"{count} reviewers"


def _questions(count: int) -> str:
    return f"{count:,} question" if count == 1 else f"{count:,} questions"
