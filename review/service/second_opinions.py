"""Services for second opinions: for a random share, for reported errors, or by expected information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.batches import AssignmentState, Batch
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.people import Action, Person, require
from domain.second_opinions import SecondOpinions, SecondOpinionScope
from review.consensus import count_decisions
from review.distribution import (
    CurrentAssignments,
    Distribution,
    UnderassignedQuestion,
    distribute_questions,
    list_current_holders,
    map_names_to_questions,
)
from review.informative_opinions import (
    MAXIMUM_REVIEWERS,
    choose_informative_opinions,
    compute_expected_information,
)
from review.second_opinions import extend_rule
from review.service.assignments import create_assignments, load_current_assignments
from review.service.batches import batch_subject
from review.service.coordinator_lookups import load_reviewers, lock_open_batch
from storage.review.assignments import list_batch_members
from storage.review.latest_verdicts import load_latest_verdicts, load_questions_with_errors
from storage.review.outcomes import load_adjudication_outcomes
from storage.review.second_opinions import find_second_opinions, load_question_ids, save_second_opinions
from storage.review.shared_queues import count_free_by_question
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOpinionSummary:
    """The numbers of questions for a second opinion, assigned or in a preview, by sign-in name.

    ``random_count`` of the questions are in the random share. ``added_count`` are outside it and were added
    because of their verdicts. ``notes`` are messages for the user.
    """

    batch: str
    rule: SecondOpinions
    assigned: dict[str, int]
    random_count: int
    added_count: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Information:
    """The expected information of the chosen opinions in bits, best first, and its mean over all choices."""

    bits: tuple[float, ...]
    mean_bits: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _SecondOpinionPlan:
    current: CurrentAssignments
    distribution: Distribution
    random_share: frozenset[int]
    without_reviewer_count: int
    information: _Information | None


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
    scope: SecondOpinionScope,
    share: float | None,
    seed: int | None,
    informative: int = 0,
    now: datetime,
) -> SecondOpinionSummary:
    """Assign a second reviewer to a random share of a batch and, by ``scope``, to further questions.

    The random share is chosen by a hash of seed and question, independently of verdicts. A verdict reports an
    error if its decision is "revise" or "reject" or if it names a kind of error. Questions with two reviewers
    get no further reviewer, except by expected information: then a question outside the random share can get
    a third one. In the random share, the number of reviewers must not depend on verdicts. Questions without a
    reviewer are skipped; call this function again once they have one. The batch is locked.

    Args:
        db: a session for writing.
        by: the acting person.
        batch: the name of the batch.
        to: the sign-in names of reviewers.
        scope: the questions to add to the random share.
        share: the random share of all questions of the batch, above 0 and up to 1; None for the share of an
            earlier call.
        seed: the seed of the random share; None for the seed of an earlier call, or 0.
        informative: the number of questions to add by expected information, 1 or more with this scope.
        now: the current time.

    Raises:
        NotFound: the batch or a person does not exist.
        Refused: the batch is closed, a person is not a reviewer, there is no random share, or an earlier call
            had another seed, share or scope that does not allow this one.
        InvalidValue: ``to`` is empty, or the share, the seed or ``informative`` is outside its range.
    """
    require(by, Action.ASSIGN)
    loaded_batch = lock_open_batch(db, batch)
    previous = find_second_opinions(db, batch_id=loaded_batch.id)
    rule = extend_rule(previous, scope=scope, share=share, seed=seed)
    people = load_reviewers(db, to, batch=loaded_batch)
    plan = _plan_second_opinions(db, loaded_batch, rule, people, informative)
    create_assignments(db, loaded_batch, plan.current, plan.distribution, by_id=by.id, now=now)
    if rule != previous:
        save_second_opinions(db, batch_id=loaded_batch.id, second_opinions=rule, now=now)
    record_action(
        db, by=by, action="seek second opinions", subject=batch_subject(loaded_batch),
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
    scope: SecondOpinionScope,
    share: float | None,
    seed: int | None,
    informative: int = 0,
) -> SecondOpinionSummary:
    """Compute what :func:`request_second_opinions` would assign. Nothing is written or locked.

    Raises the same errors, except that a closed batch is not refused.
    """
    require(by, Action.ASSIGN)
    loaded_batch = load_batch(db, name=batch)
    rule = extend_rule(
        find_second_opinions(db, batch_id=loaded_batch.id), scope=scope, share=share, seed=seed
    )
    people = load_reviewers(db, to, batch=loaded_batch)
    plan = _plan_second_opinions(db, loaded_batch, rule, people, informative)
    return _build_summary(loaded_batch, rule, plan, people)


def _plan_second_opinions(
    db: Session, batch: Batch, rule: SecondOpinions, people: Sequence[Person], informative: int
) -> _SecondOpinionPlan:
    is_by_information = rule.scope is SecondOpinionScope.SHARE_AND_INFORMATION
    if is_by_information and informative < 1:
        raise InvalidValue("questions by expected information", f"must be 1 or more, not {informative}")
    current = load_current_assignments(db, batch)
    free_by_question = count_free_by_question(db, batch_id=batch.id)
    random_share = rule.draw_random_share(load_question_ids(db, batch_id=batch.id))
    chosen_row_ids = set(random_share)
    if rule.scope is SecondOpinionScope.SHARE_AND_ERRORS:
        chosen_row_ids |= load_questions_with_errors(db, batch_id=batch.id)
    to_assign, without_reviewer_count = [], 0
    for member in list_batch_members(db, batch_id=batch.id):
        if member.question_row_id not in chosen_row_ids:
            continue
        holders = list_current_holders(current.states.get(member.question_row_id, {}))
        reviewer_count = len(holders) + free_by_question.get(member.question_row_id, 0)
        without_reviewer_count += reviewer_count == 0
        if reviewer_count == 1:
            to_assign.append(
                UnderassignedQuestion(
                    question_row_id=member.question_row_id,
                    exam_row_id=member.exam_row_id,
                    position=member.position,
                    missing_reviewers=1,
                    holders=holders,
                )
            )
    distribution = distribute_questions(
        to_assign, people=[person.id for person in people], reviewers_by_exam=current.reviewers_by_exam
    )
    information = None
    if is_by_information:
        opinions_by_person, information = _choose_by_information(
            db,
            batch,
            people,
            current=current,
            left_out=random_share | free_by_question.keys(),
            count=informative,
        )
        distribution = Distribution(
            by_person={
                person: tuple(
                    sorted(
                        (*group, *opinions_by_person.get(person, ())), key=lambda question: question.position
                    )
                )
                for person, group in distribution.by_person.items()
            },
            unplaced=distribution.unplaced,
        )
    return _SecondOpinionPlan(
        current=current,
        distribution=distribution,
        random_share=random_share,
        without_reviewer_count=without_reviewer_count,
        information=information,
    )


def _choose_by_information(
    db: Session,
    batch: Batch,
    people: Sequence[Person],
    *,
    current: CurrentAssignments,
    left_out: frozenset[int],
    count: int,
) -> tuple[dict[int, list[UnderassignedQuestion]], _Information]:
    """Choose questions by person id. Their reviewers have all judged them, and they are not adjudicated."""
    verdicts = load_latest_verdicts(db, batch_ids=[batch.id])
    if not len(verdicts):
        return {}, _Information(bits=(), mean_bits=0.0)
    decisions = count_decisions(verdicts, people=tuple(person.id for person in people))
    adjudicated = {
        adjudication.question_row_id for adjudication in load_adjudication_outcomes(db, batch_ids=[batch.id])
    }
    members = {member.question_row_id: member for member in list_batch_members(db, batch_id=batch.id)}
    columns = np.searchsorted(decisions.people, [person.id for person in people])
    can_judge = np.zeros((len(decisions.questions), len(people)), dtype=np.bool_)
    for row, number in enumerate(decisions.questions.tolist()):
        states = current.states.get(number, {})
        holders = list_current_holders(states)
        is_waiting = any(states[person] is not AssignmentState.DONE for person in holders)
        has_judged = decisions.counts[row].any(axis=1)
        is_full = max(len(holders), int(has_judged.sum())) >= MAXIMUM_REVIEWERS
        is_excluded = number not in members or number in left_out or number in adjudicated
        if not (is_excluded or is_waiting or is_full):
            can_judge[row] = [
                person.id not in holders and not has_judged[column]
                for person, column in zip(people, columns.tolist(), strict=True)
            ]
    information = compute_expected_information(decisions.counts)[:, columns]
    opinions_by_person: dict[int, list[UnderassignedQuestion]] = {}
    chosen_opinions = choose_informative_opinions(information, can_judge, count=count)
    for opinion in chosen_opinions:
        member = members[int(decisions.questions[opinion.question])]
        opinions_by_person.setdefault(people[opinion.person].id, []).append(
            UnderassignedQuestion(
                question_row_id=member.question_row_id,
                exam_row_id=member.exam_row_id,
                position=member.position,
                missing_reviewers=1,
            )
        )
    return opinions_by_person, _Information(
        bits=tuple(opinion.bits for opinion in chosen_opinions),
        mean_bits=float(information[can_judge].mean()) if can_judge.any() else 0.0,
    )


def _build_summary(
    batch: Batch, rule: SecondOpinions, plan: _SecondOpinionPlan, people: Sequence[Person]
) -> SecondOpinionSummary:
    assigned = [
        question.question_row_id for group in plan.distribution.by_person.values() for question in group
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
    if plan.information is not None:
        notes.append(_describe_information(plan.information))
    if rule.scope is SecondOpinionScope.SHARE_AND_ERRORS:
        notes.append("Repeat this step as first verdicts arrive, to include newly reported errors.")
    return SecondOpinionSummary(
        batch=batch.name,
        rule=rule,
        assigned={person.name: len(plan.distribution.by_person[person.id]) for person in people},
        random_count=random_count,
        added_count=len(assigned) - random_count,
        notes=tuple(notes),
    )


def _describe_information(information: _Information) -> str:
    if not information.bits:
        return (
            "No question can be chosen by expected information yet: it needs questions outside the random "
            "share whose reviewers have all judged them, and a reviewer who has not."
        )
    best, least = information.bits[0], information.bits[-1]
    return (
        f"By expected information: {count_text(len(information.bits), 'question')}. A verdict is expected to "
        f"settle {best:.2f} to {least:.2f} bits of a question's decision; {information.mean_bits:.2f} on "
        "average of all questions that could be chosen. Repeat this step as verdicts arrive."
    )


def _rule_to_json(rule: SecondOpinions) -> dict[str, object]:
    return {"way": rule.scope.value, "share": rule.share, "seed": rule.seed}
