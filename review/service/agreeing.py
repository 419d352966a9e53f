"""Agreement between the reviewers of a batch, and each one's drift, for coordinators."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sqlmodel import Session

from domain.batches import Batch
from domain.people import Action, Person, require
from domain.second_opinions import SecondOpinions, SecondWay
from review.agreement import Between, SharedQuestion, agreement_between
from review.drift import DriftBlock, TimedVerdict, block_size, drift_of
from review.service.reporting import settled, shown_names
from storage.assignments import batch_members
from storage.batches import load_batch
from storage.people import list_people
from storage.progress import judged
from storage.questions import load_questions
from storage.second_opinions import question_ids, second_opinions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAgreement:
    """Agreement in a batch and how second opinions were ``sought``, None where by no rule.

    ``between`` rests on ``counted`` of the ``shared`` questions (those that two people or more have judged);
    ``left_out`` says in words which are not counted and why, ``sought_text`` how they were sought.
    ``people`` are display names by number; ``drift`` by the person's number.
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


def batch_agreement(db: Session, *, by: Person, batch: str) -> BatchAgreement:
    """Every pair of reviewers, all of them together, and each one's drift.

    Where a second opinion was sought because of what the first found, only the random share counts: in it
    every question was to be judged twice, whatever was found.

    Raises:
        NotFound: no such batch.
    """
    require(by, Action.SEE_PROGRESS)
    found = load_batch(db, name=batch)
    exam_of = {each.question_number: each.exam_number for each in batch_members(db, batch_id=found.id)}
    verdicts = defaultdict(list)
    for verdict in settled(db, batch_ids=[found.id]):
        verdicts[verdict.question_id].append(verdict)
    several = [number for number, theirs in verdicts.items() if len(theirs) > 1]
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
    questions = dict(load_questions(db, question_ids=counted))
    timed: dict[int, list[TimedVerdict]] = defaultdict(list)
    standing = {(each.question_id, each.person_id): each for theirs in verdicts.values() for each in theirs}
    for each in judged(db, batch_id=found.id):
        timed[each.person_number].append(
            TimedVerdict(
                verdict=standing[each.question_number, each.person_number],
                exam_number=exam_of[each.question_number],
                first_given_at=each.first_given_at,
                first_seconds_looking=each.first_seconds_looking,
            )
        )
    block = block_size(max(map(len, timed.values()), default=0))
    return BatchAgreement(
        batch=found,
        sought=sought,
        sought_text=_sought_text(sought),
        questions=len(exam_of),
        shared=len(several),
        counted=len(counted),
        left_out=left_out,
        people=shown_names(list_people(db)),
        between=agreement_between(
            [
                SharedQuestion(
                    question=questions[number],
                    exam_number=exam_of[number],
                    verdicts=tuple(verdicts[number]),
                )
                for number in counted
            ]
        ),
        drift_block=block,
        drift={number: drift_of(theirs, block=block) for number, theirs in sorted(timed.items())},
    )


def _sought_text(sought: SecondOpinions | None) -> str:
    if sought is None:
        return "Further reviewers were not sought by what the first found: all shared questions count."
    share = f"a random share of {100 * sought.share:g} % of the batch (seed {sought.seed})"
    if sought.way is SecondWay.SHARE:
        return f"Second opinions were sought of {share}, drawn whatever was found."
    return f"Second opinions were sought of {share}, and where the first found something."
