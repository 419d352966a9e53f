"""Reviewers' attention in a batch, measured with hidden questions, for coordinators."""

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
from review.attention import Attention, PlantedJudged, RepeatPair, attention_of
from review.faults import FaultSeen, seen
from review.service.reporting import shown_names
from storage.accounts.people import list_people
from storage.intake.questions import load_questions
from storage.review import hidden as stored
from storage.review.hidden_judged import HiddenJudged, first_times, hidden_judged
from storage.sampling.batches import load_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenLine:
    """A hidden question as shown to a coordinator.

    ``first`` is the reviewer's first decision on its source, ``decision`` that on the hidden question,
    ``seen`` whether the planted fault was found; None without a verdict or a fault.
    """

    hidden: HiddenQuestion
    person: str
    source_id: str
    state: AssignmentState | None
    first: Decision | None
    decision: Decision | None
    seen: FaultSeen | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerAttention:
    """The attention of one reviewer; ``person`` is None for all together.

    ``repeats_hidden`` and ``planted_hidden`` count all hidden questions, judged or not.
    """

    person: str | None
    repeats_hidden: int
    planted_hidden: int
    attention: Attention


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAttention:
    """The attention of a batch's reviewers: all together first, if there are several, then each.

    ``judged`` of the ``hidden`` questions were judged; ``removed`` questions do not count.
    """

    batch: Batch
    plan: HiddenPlan | None
    hidden: int
    judged: int
    removed: int
    reviewers: tuple[ReviewerAttention, ...]


def batches_with_hidden(db: Session, *, by: Person) -> dict[int, int]:
    """The number of hidden questions by batch number; batches without any are left out."""
    require(by, Action.SEE_PROGRESS)
    return stored.batches_with_hidden(db)


def hidden_lines(db: Session, *, by: Person, batch: str) -> list[HiddenLine]:
    """All hidden questions of a batch, including removed ones.

    Raises:
        NotFound: no such batch.
    """
    require(by, Action.ASSIGN)
    names = shown_names(list_people(db))
    return [
        HiddenLine(
            hidden=each.hidden,
            person=names[each.hidden.person_id],
            source_id=each.source_key,
            state=each.state,
            first=each.first.decision if each.first else None,
            decision=each.verdict.decision if each.verdict else None,
            seen=seen(each.hidden.fault, each.verdict) if each.hidden.fault and each.verdict else None,
        )
        for each in hidden_judged(db, batch_id=load_batch(db, name=batch).id)
    ]


def batch_attention(db: Session, *, by: Person, batch: str) -> BatchAttention:
    """Each reviewer's results on repeats and planted faults; removed questions do not count.

    Raises:
        NotFound: no such batch.
    """
    require(by, Action.SEE_PROGRESS)
    found = load_batch(db, name=batch)
    kept = stored.hidden_set(db, batch_id=found.id)
    every = hidden_judged(db, batch_id=found.id)
    counting = [each for each in every if each.hidden.counts]
    by_person: dict[int, list[HiddenJudged]] = defaultdict(list)
    for each in counting:
        by_person[each.hidden.person_id].append(each)
    times = first_times(db, batch_id=found.id)
    questions = dict(
        load_questions(
            db, question_ids=[each.hidden.source for each in counting if each.first and each.verdict]
        )
    )
    pairs = {
        person: [
            RepeatPair(
                question=questions[each.hidden.source],
                exam_number=each.exam_number,
                first=each.first,
                second=each.verdict,
                between=_between(times[person], each.first.given_at, each.verdict.given_at),
            )
            for each in theirs
            if each.hidden.kind is HiddenKind.REPEAT and each.first and each.verdict
        ]
        for person, theirs in by_person.items()
    }
    planted = {
        person: [
            PlantedJudged(fault=each.hidden.fault, exam_number=each.exam_number, verdict=each.verdict)
            for each in theirs
            if each.hidden.fault and each.verdict
        ]
        for person, theirs in by_person.items()
    }
    names = shown_names(list_people(db))
    reviewers = [
        _reviewer(names[person], theirs, attention_of(pairs[person], planted[person]))
        for person, theirs in sorted(by_person.items(), key=lambda each: names[each[0]])
    ]
    if len(reviewers) > 1:
        together = attention_of(
            [each for theirs in pairs.values() for each in theirs],
            [each for theirs in planted.values() for each in theirs],
        )
        reviewers.insert(0, _reviewer(None, counting, together))
    return BatchAttention(
        batch=found,
        plan=kept.plan if kept else None,
        hidden=len(counting),
        judged=sum(each.verdict is not None for each in counting),
        removed=len(every) - len(counting),
        reviewers=tuple(reviewers),
    )


def _reviewer(person: str | None, theirs: list[HiddenJudged], attention: Attention) -> ReviewerAttention:
    repeats = sum(each.hidden.kind is HiddenKind.REPEAT for each in theirs)
    return ReviewerAttention(
        person=person,
        repeats_hidden=repeats,
        planted_hidden=len(theirs) - repeats,
        attention=attention,
    )


def _between(times: list[datetime], one: datetime, other: datetime) -> int:
    """The number of verdicts between two times."""
    first, second = sorted((one, other))
    return max(0, bisect_left(times, second) - bisect_left(times, first) - 1)
