"""Services for second opinions: a second reviewer for a random share and for reported errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.batches import Batch
from domain.count_texts import count_text
from domain.people import Action, Person, require
from domain.second_opinions import SecondOpinions, SecondOpinionScope
from review.distribution import (
    CurrentAssignments,
    Distribution,
    UnderassignedQuestion,
    distribute_questions,
    list_current_holders,
    map_names_to_questions,
)
from review.second_opinions import extend_rule
from review.service.assignments import create_assignments, load_current_assignments
from review.service.batches import batch_subject
from review.service.coordinator_lookups import load_reviewers, lock_open_batch
from storage.review.assignments import list_batch_members
from storage.review.latest_verdicts import load_questions_with_errors
from storage.review.second_opinions import find_second_opinions, load_question_ids, save_second_opinions
from storage.review.shared_queues import count_free_by_question
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOpinionSummary:
    """The numbers of questions for a second opinion, assigned or in a preview, by sign-in name.

    ``random_count`` of the questions are in the random share. ``found_count`` are outside it and were added
    because the first reviewer reported an error. ``notes`` has sentences for the user.
    """

    batch: str
    rule: SecondOpinions
    assigned: dict[str, int]
    random_count: int
    found_count: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SecondOpinionPlan:
    current: CurrentAssignments
    distribution: Distribution
    random_share: frozenset[int]
    without_reviewer_count: int


def load_second_opinions(db: Session, *, by: Person, batch: str) -> SecondOpinions | None:
    """Return the rule for second opinions of a batch; None if there is none.

    Raises:
        NotFound: the batch does not exist.
    """
    require(by, Action.ASSIGN)
    return find_second_opinions(db, batch_id=load_batch(db, name=batch).id)


def request_second_opinions(
    db: Session,
    *,
    by: Person,
    batch: str,
    to: Sequence[str],
    where_found: bool,
    share: float | None,
    seed: int | None,
    now: datetime,
) -> SecondOpinionSummary:
    """Assign a second reviewer to a random share of a batch and, optionally, where an error was reported.

    The random share is chosen by a hash of seed and question, independently of verdicts. A verdict reports an
    error if its decision is "revise" or "reject" or if it names a kind of error. Questions with two reviewers
    get no further reviewer. Questions without a reviewer are skipped; call this function again once they have
    one. The batch is locked.

    Args:
        db: a session for writing.
        by: the acting person.
        batch: the name of the batch.
        to: the sign-in names of reviewers.
        where_found: whether to add the questions in which the first reviewer reported an error.
        share: the random share of all questions of the batch, above 0 and up to 1; None for the share of an
            earlier call.
        seed: the seed of the random share; None for the seed of an earlier call, or 0.
        now: the current time.

    Raises:
        NotFound: the batch or a person does not exist.
        Refused: the batch is closed, a person is not a reviewer, there is no random share, or an earlier call
            had another seed or a larger share or included the questions with a reported error.
        InvalidValue: ``to`` is empty, or the share or the seed is outside its range.
    """
    require(by, Action.ASSIGN)
    loaded_batch = lock_open_batch(db, batch)
    previous = find_second_opinions(db, batch_id=loaded_batch.id)
    rule = extend_rule(previous, where_found=where_found, share=share, seed=seed)
    people = load_reviewers(db, to)
    plan = _plan_second_opinions(db, loaded_batch, rule, people)
    create_assignments(db, loaded_batch, plan.current, plan.distribution, by_id=by.id, now=now)
    if rule != previous:
        save_second_opinions(db, batch_id=loaded_batch.id, second_opinions=rule, now=now)
    record(
        db, by=by, what="seek second opinions", subject=batch_subject(loaded_batch),
        old=None if previous is None else _rule_to_json(previous),
        new={**_rule_to_json(rule), "given": map_names_to_questions(plan.distribution, people)}, now=now,
    )  # fmt: skip
    return _build_summary(loaded_batch, rule, plan, people)


def preview_second_opinions(
    db: Session,
    *,
    by: Person,
    batch: str,
    to: Sequence[str],
    where_found: bool,
    share: float | None,
    seed: int | None,
) -> SecondOpinionSummary:
    """Compute what :func:`request_second_opinions` would assign. Nothing is written or locked.

    Raises the same errors, except that a closed batch is not refused.
    """
    require(by, Action.ASSIGN)
    loaded_batch = load_batch(db, name=batch)
    rule = extend_rule(
        find_second_opinions(db, batch_id=loaded_batch.id), where_found=where_found, share=share, seed=seed
    )
    people = load_reviewers(db, to)
    return _build_summary(loaded_batch, rule, _plan_second_opinions(db, loaded_batch, rule, people), people)


def _plan_second_opinions(
    db: Session, batch: Batch, rule: SecondOpinions, people: Sequence[Person]
) -> _SecondOpinionPlan:
    current = load_current_assignments(db, batch)
    in_queue = count_free_by_question(db, batch_id=batch.id)
    random_share = rule.draw_random_share(load_question_ids(db, batch_id=batch.id))
    chosen = set(random_share)
    if rule.scope is SecondOpinionScope.SHARE_AND_ERRORS:
        chosen |= load_questions_with_errors(db, batch_id=batch.id)
    to_assign, without_reviewer_count = [], 0
    for member in list_batch_members(db, batch_id=batch.id):
        if member.question_number not in chosen:
            continue
        holders = list_current_holders(current.states.get(member.question_number, {}))
        reviewer_count = len(holders) + in_queue.get(member.question_number, 0)
        without_reviewer_count += reviewer_count == 0
        if reviewer_count == 1:
            to_assign.append(
                UnderassignedQuestion(
                    question_number=member.question_number,
                    exam_number=member.exam_number,
                    position=member.position,
                    missing_reviewers=1,
                    holders=holders,
                )
            )
    distribution = distribute_questions(
        to_assign, people=[person.id for person in people], reviewers_by_exam=current.reviewers_by_exam
    )
    return _SecondOpinionPlan(
        current=current,
        distribution=distribution,
        random_share=random_share,
        without_reviewer_count=without_reviewer_count,
    )


def _build_summary(
    batch: Batch, rule: SecondOpinions, plan: _SecondOpinionPlan, people: Sequence[Person]
) -> SecondOpinionSummary:
    assigned = [
        question.question_number for group in plan.distribution.by_person.values() for question in group
    ]
    random_count = len(plan.random_share.intersection(assigned))
    share_text = count_text(len(plan.random_share), "question")
    notes = [f"The random share is {share_text} of the batch (seed {rule.seed})."]
    if not (assigned or plan.distribution.unplaced or plan.without_reviewer_count):
        notes.append("All questions that need a second reviewer have one.")
    if plan.distribution.unplaced:
        notes.append(
            f"Without a second reviewer: {count_text(len(plan.distribution.unplaced), 'question')}."
            " The chosen people are already assigned. Choose further reviewers."
        )
    if plan.without_reviewer_count:
        notes.append(
            f"Without a first reviewer: {count_text(plan.without_reviewer_count, 'question')}."
            " Assign first reviewers before you request second opinions."
        )
    if rule.scope is SecondOpinionScope.SHARE_AND_ERRORS:
        notes.append("Repeat this step as first verdicts arrive, to include newly reported errors.")
    return SecondOpinionSummary(
        batch=batch.name,
        rule=rule,
        assigned={person.name: len(plan.distribution.by_person[person.id]) for person in people},
        random_count=random_count,
        found_count=len(assigned) - random_count,
        notes=tuple(notes),
    )


def _rule_to_json(rule: SecondOpinions) -> dict[str, object]:
    return {"way": rule.scope.value, "share": rule.share, "seed": rule.seed}
