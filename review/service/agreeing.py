"""Agreement between the reviewers of a batch, and each reviewer's drift over time, for coordinators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sqlmodel import Session

from domain.batches import Batch
from domain.people import Action, Person, require
from domain.second_opinions import SecondOpinions, SecondWay
from intake.collector import collector_paused
from review.agreement import Between, agreement_between
from review.drift import DriftBlock, block_size, drift_of
from review.second_opinions import describe_rule
from review.service.reporting import shown_names
from review.shared_questions import SharedQuestion
from storage.accounts.people import list_people
from storage.intake.questions import load_questions
from storage.review.adjudications import latest_verdicts
from storage.review.second_opinions import question_ids, second_opinions_of
from storage.review.standing import standing_verdicts
from storage.sampling.batches import batch_sizes, load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAgreement:
    """Agreement in a batch.

    ``sought`` is the rule for second opinions, None without one; ``sought_text`` explains it to the user.
    ``between`` uses ``counted`` of the ``shared`` questions, which two people or more have judged;
    ``left_out`` explains which are not counted and why. ``people`` are display names by person id, ``drift``
    is by person id, in blocks of ``drift_block`` questions.
    """

    batch: Batch
    sought: SecondOpinions | None
    sought_text: str
    questions: int
    shared: int
    counted: int
    left_out: str
    people: dict[int, str]
    between: tuple[Between, ...]
    drift_block: int
    drift: dict[int, tuple[DriftBlock, ...]]


@collector_paused()
def batch_agreement(db: Session, *, by: Person, batch: str) -> BatchAgreement:
    """Agreement of each pair of reviewers and of all together, and each reviewer's drift.

    If second opinions were requested because the first reviewer found a problem, only the random share
    counts: in it every question was to be judged twice, whatever was found.

    Raises:
        NotFound: no such batch.
    """
    require(by, Action.SEE_PROGRESS)
    found = load_batch(db, name=batch)
    standing = standing_verdicts(db, batch_ids=[found.id], ratings=True)
    judged, times = np.unique(standing.questions, return_counts=True)
    several = judged[times > 1].tolist()
    sought = second_opinions_of(db, batch_id=found.id)
    counted, left_out = several, ""
    if sought is not None and sought.way is SecondWay.WHERE_FOUND:
        share = sought.random_share(question_ids(db, batch_id=found.id))
        counted = [number for number in several if number in share]
        left_out = (
            f"{len(several) - len(counted):,} questions have a second opinion because something was found in "
            "them; they would bias agreement and are left out. What counts are the "
            f"{len(counted):,} of the random share that were judged twice, each the same."
        )
    exam_of = dict(zip(standing.questions.tolist(), standing.exams.tolist(), strict=True))
    verdicts = latest_verdicts(db, batch_id=found.id, question_ids=counted)
    by_person = {person: standing.of_person(person) for person in np.unique(standing.people).tolist()}
    block = block_size(max(map(len, by_person.values()), default=0))
    return BatchAgreement(
        batch=found,
        sought=sought,
        sought_text=describe_rule(sought),
        questions=batch_sizes(db).get(found.id, 0),
        shared=len(several),
        counted=len(counted),
        left_out=left_out,
        people=shown_names(list_people(db)),
        between=agreement_between(
            [
                SharedQuestion(question=question, exam_number=exam_of[number], verdicts=verdicts[number])
                for number, question in load_questions(db, question_ids=counted)
            ]
        ),
        drift_block=block,
        drift={person: drift_of(theirs, block=block) for person, theirs in by_person.items()},
    )
