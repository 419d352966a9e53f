"""Services for coordinators: the reviewers' attention in a batch, measured with hidden questions."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.hidden import HiddenKind, HiddenPlan, HiddenQuestion
from domain.people import Action, Person, require
from domain.verdicts import Decision
from review.attention import Attention, PlantedVerdict, RepeatPair, compute_attention
from review.faults import FaultDetection, classify_detection
from review.service.batch_progress import build_display_names
from storage.accounts.people import list_people
from storage.intake.questions import load_questions
from storage.review import hidden as hidden_storage
from storage.review.hidden_judgements import (
    HiddenJudgement,
    load_first_judgement_times,
    load_hidden_judgements,
)
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedHiddenQuestion:
    """A hidden question as shown to a coordinator.

    ``first_decision`` is the reviewer's first decision on the source question, and ``decision`` the decision
    on the hidden question; each is None if there is no verdict. ``detection`` states whether the planted
    fault was found; it is None if there is no verdict or no fault.
    """

    hidden: HiddenQuestion
    person: str
    source_question_id: str
    state: AssignmentState | None
    first_decision: Decision | None
    decision: Decision | None
    detection: FaultDetection | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerAttention:
    """The attention of one reviewer, or of all reviewers if ``person`` is None.

    ``repeat_count`` and ``planted_count`` count all hidden questions, whether judged or not.
    """

    person: str | None
    repeat_count: int
    planted_count: int
    attention: Attention


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAttention:
    """The attention of the reviewers of a batch: of all reviewers first, if there are several, then of each.

    ``hidden_count`` is the number of hidden questions, of which ``judged_count`` have a verdict. Removed
    questions are only counted in ``removed_count``.
    """

    batch: Batch
    plan: HiddenPlan | None
    hidden_count: int
    judged_count: int
    removed_count: int
    reviewers: tuple[ReviewerAttention, ...]


def count_hidden_by_batch(db: Session, *, by: Person) -> dict[int, int]:
    """Return the number of hidden questions by batch id, without batches that have none."""
    require(by, Action.SEE_PROGRESS)
    return hidden_storage.count_hidden_by_batch(db)


def list_hidden_questions(db: Session, *, by: Person, batch: str) -> list[ListedHiddenQuestion]:
    """Return all hidden questions of a batch, including removed ones.

    Raises:
        NotFound: the batch does not exist.
    """
    require(by, Action.ASSIGN)
    names = build_display_names(list_people(db))
    return [
        ListedHiddenQuestion(
            hidden=judgement.hidden,
            person=names[judgement.hidden.person_id],
            source_question_id=judgement.source_question_id,
            state=judgement.state,
            first_decision=judgement.source_verdict.decision if judgement.source_verdict else None,
            decision=judgement.verdict.decision if judgement.verdict else None,
            detection=classify_detection(judgement.hidden.fault, judgement.verdict)
            if judgement.hidden.fault and judgement.verdict
            else None,
        )
        for judgement in load_hidden_judgements(db, batch_id=load_batch(db, name=batch).id)
    ]


def compute_batch_attention(db: Session, *, by: Person, batch: str) -> BatchAttention:
    """Compute each reviewer's results on repeats and planted faults, without removed questions.

    Raises:
        NotFound: the batch does not exist.
    """
    require(by, Action.SEE_PROGRESS)
    loaded_batch = load_batch(db, name=batch)
    hidden_set = hidden_storage.find_hidden_set(db, batch_id=loaded_batch.id)
    all_hidden = load_hidden_judgements(db, batch_id=loaded_batch.id)
    counted_judgements = [judgement for judgement in all_hidden if judgement.hidden.is_counted]
    by_person: dict[int, list[HiddenJudgement]] = defaultdict(list)
    for judgement in counted_judgements:
        by_person[judgement.hidden.person_id].append(judgement)
    judgement_times = load_first_judgement_times(db, batch_id=loaded_batch.id)
    questions = dict(
        load_questions(
            db,
            question_ids=[
                judgement.hidden.source_question_row_id
                for judgement in counted_judgements
                if judgement.source_verdict and judgement.verdict
            ],
        )
    )
    pairs_by_person = {
        person_id: [
            RepeatPair(
                question=questions[judgement.hidden.source_question_row_id],
                exam_row_id=judgement.exam_row_id,
                first=judgement.source_verdict,
                second=judgement.verdict,
                verdicts_between=_count_verdicts_between(
                    judgement_times[person_id], judgement.source_verdict.given_at, judgement.verdict.given_at
                ),
            )
            for judgement in person_judgements
            if judgement.hidden.kind is HiddenKind.REPEAT and judgement.source_verdict and judgement.verdict
        ]
        for person_id, person_judgements in by_person.items()
    }
    planted_by_person = {
        person_id: [
            PlantedVerdict(
                fault=judgement.hidden.fault,
                exam_row_id=judgement.exam_row_id,
                verdict=judgement.verdict,
            )
            for judgement in person_judgements
            if judgement.hidden.fault and judgement.verdict
        ]
        for person_id, person_judgements in by_person.items()
    }
    names = build_display_names(list_people(db))
    reviewers = [
        _build_reviewer_attention(
            names[person_id],
            person_judgements,
            compute_attention(pairs_by_person[person_id], planted_by_person[person_id]),
        )
        for person_id, person_judgements in sorted(by_person.items(), key=lambda item: names[item[0]])
    ]
    if len(reviewers) > 1:
        overall = compute_attention(
            [pair for person_pairs in pairs_by_person.values() for pair in person_pairs],
            [
                planted_verdict
                for person_planted in planted_by_person.values()
                for planted_verdict in person_planted
            ],
        )
        reviewers.insert(0, _build_reviewer_attention(None, counted_judgements, overall))
    return BatchAttention(
        batch=loaded_batch,
        plan=hidden_set.plan if hidden_set else None,
        hidden_count=len(counted_judgements),
        judged_count=sum(judgement.verdict is not None for judgement in counted_judgements),
        removed_count=len(all_hidden) - len(counted_judgements),
        reviewers=tuple(reviewers),
    )


def _build_reviewer_attention(
    person: str | None, judgements: list[HiddenJudgement], attention: Attention
) -> ReviewerAttention:
    n_repeats = sum(judgement.hidden.kind is HiddenKind.REPEAT for judgement in judgements)
    return ReviewerAttention(
        person=person,
        repeat_count=n_repeats,
        planted_count=len(judgements) - n_repeats,
        attention=attention,
    )


def _count_verdicts_between(
    judgement_times: list[datetime], first_time: datetime, second_time: datetime
) -> int:
    """Return the number of verdicts between two times."""
    earlier, later = sorted((first_time, second_time))
    return max(0, bisect_left(judgement_times, later) - bisect_left(judgement_times, earlier) - 1)
