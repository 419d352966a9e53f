"""Agreement between the reviewers of a batch, and each reviewer's drift over time, for coordinators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlmodel import Session

from domain.batches import Batch
from domain.people import Action, Person, require
from domain.second_opinions import SecondOpinions, SecondOpinionScope
from intake.garbage_collector import pause_garbage_collector
from review.agreement import GroupAgreement, compute_agreement
from review.consensus import Consensus, compute_consensus
from review.drift import DriftBlock, choose_block_size, compute_drift
from review.second_opinions import describe_rule
from review.service.batch_progress import build_display_names
from review.shared_questions import SharedQuestion
from storage.accounts.people import list_people
from storage.intake.questions import load_questions
from storage.review.adjudications import load_latest_verdicts_by_question
from storage.review.latest_verdicts import load_latest_verdicts
from storage.review.outcomes import load_adjudication_outcomes
from storage.review.second_opinions import find_second_opinions, load_question_ids
from storage.sampling.batches import load_batch, load_batch_sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAgreement:
    """The agreement in a batch.

    ``rule`` is the rule for second opinions, or None; ``rule_text`` explains it to the user. ``shared``
    questions have been judged by at least two people, and ``counted`` of them are used in ``agreements``;
    ``exclusion_note`` explains which are excluded and why. ``people`` has the display names by person id.
    ``consensus`` has the decisions by consensus; None without a verdict.
    ``drift`` has the blocks of ``drift_block`` verdicts by person id.
    """

    batch: Batch
    rule: SecondOpinions | None
    rule_text: str
    questions: int
    shared: int
    counted: int
    exclusion_note: str
    people: dict[int, str]
    agreements: tuple[GroupAgreement, ...]
    consensus: Consensus | None
    drift_block: int
    drift: dict[int, tuple[DriftBlock, ...]]


@pause_garbage_collector()
def compute_batch_agreement(db: Session, *, by: Person, batch: str) -> BatchAgreement:
    """Compute the agreement of each pair of reviewers and of all reviewers, and each reviewer's drift.

    If second opinions were also requested for other questions because of their verdicts, only the random
    share counts, because its questions were selected independently of the first verdict.

    Raises:
        NotFound: the batch does not exist.
    """
    require(by, Action.SEE_PROGRESS)
    loaded_batch = load_batch(db, name=batch)
    latest = load_latest_verdicts(db, batch_ids=[loaded_batch.id], ratings=True)
    judged_questions, verdict_counts = np.unique(latest.questions, return_counts=True)
    shared_questions = judged_questions[verdict_counts > 1].tolist()
    rule = find_second_opinions(db, batch_id=loaded_batch.id)
    included, exclusion_note = shared_questions, ""
    if rule is not None and rule.scope is not SecondOpinionScope.RANDOM_SHARE:
        random_share = rule.draw_random_share(load_question_ids(db, batch_id=loaded_batch.id))
        included = [number for number in shared_questions if number in random_share]
        exclusion_note = (
            f"{len(shared_questions) - len(included):,} questions have a second opinion because of their "
            "verdicts; they would bias agreement and are excluded. Agreement is based on the "
            f"{len(included):,} questions of the random share with two verdicts, all with equal weight."
        )
    exam_by_question = dict(zip(latest.questions.tolist(), latest.exams.tolist(), strict=True))
    verdicts = load_latest_verdicts_by_question(db, batch_id=loaded_batch.id, question_ids=included)
    by_person = {person: latest.select_person(person) for person in np.unique(latest.people).tolist()}
    block = choose_block_size(max(map(len, by_person.values()), default=0))
    return BatchAgreement(
        batch=loaded_batch,
        rule=rule,
        rule_text=describe_rule(rule),
        questions=load_batch_sizes(db).get(loaded_batch.id, 0),
        shared=len(shared_questions),
        counted=len(included),
        exclusion_note=exclusion_note,
        people=build_display_names(list_people(db)),
        agreements=compute_agreement(
            [
                SharedQuestion(
                    question=question, exam_row_id=exam_by_question[number], verdicts=verdicts[number]
                )
                for number, question in load_questions(db, question_ids=included)
            ]
        ),
        consensus=compute_consensus(
            latest,
            {
                adjudication.question_row_id: adjudication.decision
                for adjudication in load_adjudication_outcomes(db, batch_ids=[loaded_batch.id])
            },
        )
        if len(latest)
        else None,
        drift_block=block,
        drift={
            person: compute_drift(person_verdicts, block=block)
            for person, person_verdicts in by_person.items()
        },
    )
