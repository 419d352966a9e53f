"""Services for second opinions: a second reviewer for a random share, and where a problem was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.batches import Batch
from domain.people import Action, Person, require
from domain.second_opinions import SecondOpinions, SecondWay
from review.second_opinions import extended_rule
from review.service.batches import batch_subject
from review.service.choosing import open_batch, reviewers_named
from review.service.giving import everybody_holds, give
from review.split import Held, Lacking, Split, by_name, holders_of, questions_text, split
from storage.review.assignments import batch_members
from storage.review.second_opinions import put_second_opinions, question_ids, second_opinions_of
from storage.review.shared_queues import free_in_queue
from storage.review.standing import questions_with_a_find
from storage.sampling.batches import load_batch

WHERE_FOUND = SecondWay.WHERE_FOUND


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondSummary:
    """The second opinions assigned: numbers of questions by sign-in name.

    ``random`` of the questions are in the random share. ``found`` are outside it and were added because the
    first reviewer found a problem. ``notes`` are sentences for the user.
    """

    batch: str
    sought: SecondOpinions
    given: dict[str, int]
    random: int
    found: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    held: Held
    parts: Split
    share: frozenset[int]
    without_first: int
    share_size: int


def second_opinions(db: Session, *, by: Person, batch: str) -> SecondOpinions | None:
    """The rule for second opinions of a batch; None without one.

    Raises:
        NotFound: no such batch.
    """
    require(by, Action.ASSIGN)
    return second_opinions_of(db, batch_id=load_batch(db, name=batch).id)


def seek_second_opinions(
    db: Session,
    *,
    by: Person,
    batch: str,
    to: Sequence[str],
    where_found: bool,
    share: float | None,
    seed: int | None,
    now: datetime,
) -> SecondSummary:
    """Assign a second reviewer to a random share of a batch and, if wanted, where a problem was found.

    The random share is chosen by hash of seed and question, independent of verdicts. A problem was found if a
    verdict revises, rejects or names a kind of error. Questions with two reviewers get no further one;
    questions without a first reviewer are left for a later call, which assigns only what is missing. Locks
    the batch.

    Args:
        db: a session that writes.
        by: who acts.
        batch: its name.
        to: sign-in names of reviewers.
        where_found: whether to add the questions in which the first reviewer found a problem.
        share: of all questions of the batch, above 0 to 1; None for that of an earlier call.
        seed: None for that of an earlier call, or 0.
        now: the time.

    Raises:
        NotFound: there is no such batch or person.
        Refused: the batch is closed, somebody is no reviewer, there is no random share, or an earlier call
            had another seed, a larger share, or included the questions where a problem was found.
        InvalidValue: no name, or a share or seed outside its range.
    """
    require(by, Action.ASSIGN)
    found = open_batch(db, batch)
    before = second_opinions_of(db, batch_id=found.id)
    sought = extended_rule(before, where_found=where_found, share=share, seed=seed)
    people = reviewers_named(db, to)
    plan = _plan(db, found, sought, people)
    give(db, found, plan.held, plan.parts, now=now)
    if sought != before:
        put_second_opinions(db, batch_id=found.id, sought=sought, now=now)
    record(
        db, by=by, what="seek second opinions", subject=batch_subject(found),
        old=None if before is None else _plain(before),
        new={**_plain(sought), "given": by_name(plan.parts, people)}, now=now,
    )  # fmt: skip
    return _summary(found, sought, plan, people)


def preview_second_opinions(
    db: Session,
    *,
    by: Person,
    batch: str,
    to: Sequence[str],
    where_found: bool,
    share: float | None,
    seed: int | None,
) -> SecondSummary:
    """Compute what :func:`seek_second_opinions` would assign; writes nothing. Errors are the same."""
    require(by, Action.ASSIGN)
    found = load_batch(db, name=batch)
    sought = extended_rule(
        second_opinions_of(db, batch_id=found.id), where_found=where_found, share=share, seed=seed
    )
    people = reviewers_named(db, to)
    return _summary(found, sought, _plan(db, found, sought, people), people)


def _plan(db: Session, batch: Batch, sought: SecondOpinions, people: Sequence[Person]) -> _Plan:
    held = everybody_holds(db, batch)
    in_queue = free_in_queue(db, batch_id=batch.id)
    share = sought.random_share(question_ids(db, batch_id=batch.id))
    chosen = set(share)
    if sought.way is WHERE_FOUND:
        chosen |= questions_with_a_find(db, batch_id=batch.id)
    lacking, without_first = [], 0
    for member in batch_members(db, batch_id=batch.id):
        if member.question_number not in chosen:
            continue
        holders = holders_of(held.states.get(member.question_number, {}))
        coming = len(holders) + in_queue.get(member.question_number, 0)
        without_first += coming == 0
        if coming == 1:
            lacking.append(
                Lacking(
                    question_number=member.question_number,
                    exam_number=member.exam_number,
                    position=member.position,
                    need=1,
                    holders=holders,
                )
            )
    parts = split(lacking, people=[person.id for person in people], on_exam=held.on_exam)
    return _Plan(held=held, parts=parts, share=share, without_first=without_first, share_size=len(share))


def _summary(batch: Batch, sought: SecondOpinions, plan: _Plan, people: Sequence[Person]) -> SecondSummary:
    given = [each.question_number for group in plan.parts.given.values() for each in group]
    random = len(plan.share.intersection(given))
    notes = [f"The random share is {questions_text(plan.share_size)} of the batch (seed {sought.seed})."]
    if not given and not plan.parts.short:
        notes.append("All that are to have a second reviewer so far have one.")
    if plan.parts.short:
        notes.append(
            f"{questions_text(len(plan.parts.short))} found nobody: these people judge them already. "
            "Name others too."
        )
    if plan.without_first:
        notes.append(
            f"{questions_text(plan.without_first)} of them lack a first reviewer: assign those first."
        )
    if sought.way is WHERE_FOUND:
        notes.append("Do it again as first verdicts come in: it goes on where something new was found.")
    return SecondSummary(
        batch=batch.name,
        sought=sought,
        given={person.name: len(plan.parts.given[person.id]) for person in people},
        random=random,
        found=len(given) - random,
        notes=tuple(notes),
    )


def _plain(sought: SecondOpinions) -> dict[str, object]:
    return {"way": sought.way.value, "share": sought.share, "seed": sought.seed}
