"""Computes which hidden questions a plan adds for each reviewer, and where; writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.draw_hash import draw_hash
from domain.errors import InvalidValue
from domain.hidden import FINDABLE, HiddenKind, HiddenPlan, QueuedQuestion
from domain.people import Action, Person
from review.faults import spoil
from review.hiding import Slots, between, repeats_in_queue, repeats_of_judged, wanted_repeats
from storage.accounts.people import list_people
from storage.intake.questions import load_questions
from storage.review import hidden as stored
from storage.review import shared_queues
from storage.review.assignments import ROOM, people_counts
from storage.review.hidden import ToHide
from storage.review.hidden_sources import queue_of, reports_of, sound_questions

#: The most correct questions that are tried for each planted fault.
_TRIED = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenCount:
    """The hidden questions of one reviewer: repeats and planted ones, and how many could not be hidden."""

    person: Person
    repeats: int
    planted: int
    short_repeats: int
    short_planted: int


def plan_hidden(db: Session, batch: Batch, plan: HiddenPlan) -> tuple[list[ToHide], list[HiddenCount]]:
    """Compute the questions to hide in addition to those already hidden; writes nothing.

    Returns:
        The questions to hide, and the counts for each reviewer, sorted by name.

    Raises:
        InvalidValue: a fault that can't be found with the parts of the form that the batch asks for.
    """
    unfit = [each for each in plan.faults if each not in FINDABLE[batch.settings.parts]]
    if plan.planted and unfit:
        raise InvalidValue(
            "faults",
            f"batch {batch.name} asks for {batch.settings.parts.value}, so nobody could find: "
            f"{', '.join(unfit)}",
        )
    pool = set(shared_queues.members(db, batch_id=batch.id))
    theirs = {*people_counts(db, batch_id=batch.id), *pool}
    wanted: list[ToHide] = []
    counts = []
    for person in sorted(list_people(db), key=lambda each: each.name):
        if person.id not in theirs or person.disabled_at is not None or not person.may(Action.JUDGE):
            continue
        rows = queue_of(db, batch_id=batch.id, person_id=person.id)
        if person.id not in pool and not rows:
            continue  # all of their questions were withdrawn or moved
        hidden, count = _for_person(db, batch, plan, person, rows, shares=person.id in pool)
        wanted += hidden
        counts.append(count)
    return wanted, counts


def _for_person(
    db: Session,
    batch: Batch,
    plan: HiddenPlan,
    person: Person,
    rows: Sequence[QueuedQuestion],
    *,
    shares: bool,
) -> tuple[list[ToHide], HiddenCount]:
    there = stored.hidden_questions(db, batch_id=batch.id, person_id=person.id)
    # When the first question of a batch is hidden, all positions are multiplied by this factor to make room.
    step = 1 if stored.hidden_set(db, batch_id=batch.id) else ROOM
    queue = [replace(row, position=row.position * step) for row in rows]
    counted = Counter(each.kind for each in there if each.counts)
    repeated = frozenset(each.source for each in there if each.kind is HiddenKind.REPEAT)
    if shares:
        judged = [each for each in queue if each.first_judged_at is not None]
        judged.sort(key=lambda each: (str(each.first_judged_at), each.number))
        own = sum(not each.hidden for each in judged)
        count = wanted_repeats(plan, own=own, there=counted[HiddenKind.REPEAT])
        hidden = [
            ToHide(person_id=person.id, kind=HiddenKind.REPEAT, source=each.number, after=after)
            for each, after in repeats_of_judged(
                judged, plan, person_id=person.id, repeated=repeated, count=count
            )
        ]
        slots = None
    else:
        slots = Slots(queue)
        count = wanted_repeats(
            plan, own=sum(not each.hidden for each in queue), there=counted[HiddenKind.REPEAT]
        )
        if not any(each.state is AssignmentState.OPEN for each in queue):
            count = 0
        hidden = [
            ToHide(
                person_id=person.id, kind=HiddenKind.REPEAT, source=each.number,
                position=between(queue, place),
            )
            for each, place in repeats_in_queue(
                queue, plan, person_id=person.id, repeated=repeated, slots=slots, count=count
            )
        ]  # fmt: skip
    repeats = len(hidden)
    to_plant = max(0, plan.planted - counted[HiddenKind.PLANTED])
    if slots is not None and not any(each.state is AssignmentState.OPEN for each in queue):
        to_plant = 0
    done = sum(each.state is AssignmentState.DONE for each in queue)
    hidden += _planted(db, batch, plan, person, slots=slots, queue=queue, count=to_plant, done=done)
    return hidden, HiddenCount(
        person=person,
        repeats=repeats,
        planted=len(hidden) - repeats,
        short_repeats=count - repeats,
        short_planted=to_plant - (len(hidden) - repeats),
    )


def _planted(
    db: Session,
    batch: Batch,
    plan: HiddenPlan,
    person: Person,
    *,
    slots: Slots | None,
    queue: Sequence[QueuedQuestion],
    count: int,
    done: int,
) -> list[ToHide]:
    """Plant the kinds of faults in turn, each in the first correct question that allows it."""
    if not count:
        return []
    start = draw_hash(f"{plan.seed}:planted") % 2**32 / 2**32
    candidates = sound_questions(
        db, dataset_id=batch.dataset_id, batch_id=batch.id, start=start, person_id=person.id
    )
    order = sorted(
        candidates, key=lambda each: (each[1], draw_hash(f"{plan.seed}:planted:{each[0]}"), each[0])
    )
    numbers = [number for number, _ in order[: count * _TRIED]]
    reports = reports_of(db, numbers=numbers)
    questions = dict(load_questions(db, question_ids=numbers))
    found: list[ToHide] = []
    used: set[int] = set()
    for turn in range(count):
        fault = plan.faults[turn % len(plan.faults)]
        for number in numbers:
            if number in used:
                continue
            altered = spoil(questions[number], fault, elsewhere=reports[number][1], seed=plan.seed)
            if altered is None:
                continue
            pick = draw_hash(f"{plan.seed}:place:{person.id}:{number}") % 2**32
            position, after = None, done + 1 + turn * plan.distance + pick % plan.distance
            if slots is not None:
                place = slots.take(exam_number=reports[number][0], behind=0, pick=pick)
                if place is None:
                    continue
                position, after = between(queue, place), 0
            used.add(number)
            found.append(
                ToHide(
                    person_id=person.id, kind=HiddenKind.PLANTED, source=number, fault=fault,
                    altered=altered, position=position, after=after,
                )
            )  # fmt: skip
            break
    return found
