"""Computes which hidden questions a plan adds for each reviewer, and their positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.draw_hash import compute_draw_hash
from domain.errors import InvalidValue
from domain.hidden import DETECTABLE_FAULTS, HiddenKind, HiddenPlan, QueuedQuestion
from domain.people import Action, Person
from review.faults import plant_fault
from review.hidden_placement import (
    QueueGaps,
    choose_repeats_in_queue,
    choose_repeats_of_judged,
    compute_position_between,
    count_missing_repeats,
)
from storage.accounts.people import list_people
from storage.intake.questions import load_questions
from storage.review import hidden as hidden_storage
from storage.review import shared_queues
from storage.review.assignments import POSITION_GAP, count_by_person
from storage.review.claims import count_claimable
from storage.review.hidden import QuestionToHide
from storage.review.hidden_sources import load_queue, load_reports, load_sound_questions

#: The maximum number of correct questions that are tried for each planted fault.
_MAX_CANDIDATES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenCounts:
    """The numbers of one reviewer's repeats and planted questions; missing ones could not be placed."""

    person: Person
    repeats: int
    planted: int
    missing_repeats: int
    missing_planted: int


def plan_hidden(
    db: Session, batch: Batch, plan: HiddenPlan
) -> tuple[list[QuestionToHide], list[HiddenCounts]]:
    """Compute the further questions to hide, in addition to the hidden ones. Nothing is written.

    Returns:
        The questions to hide, and the counts for each reviewer, sorted by name.

    Raises:
        InvalidValue: a kind of fault cannot be found with the form fields that the batch requests.
    """
    undetectable = [fault for fault in plan.faults if fault not in DETECTABLE_FAULTS[batch.settings.parts]]
    if plan.plants and undetectable:
        raise InvalidValue(
            "faults",
            f"batch {batch.name} requests {batch.settings.parts.value}, so these faults cannot be found: "
            f"{', '.join(undetectable)}",
        )
    queue_members = set(shared_queues.list_queue_members(db, batch_id=batch.id))
    reviewer_ids = {*count_by_person(db, batch_id=batch.id), *queue_members}
    to_hide: list[QuestionToHide] = []
    counts = []
    for person in sorted(list_people(db), key=lambda person: person.name):
        if person.id not in reviewer_ids or person.disabled_at is not None or not person.may(Action.JUDGE):
            continue
        queue = load_queue(db, batch_id=batch.id, person_id=person.id)
        if person.id not in queue_members and not queue:
            continue  # all questions of this person were withdrawn or reassigned
        hidden, person_counts = _plan_for_person(
            db, batch, plan, person, queue, pool_size=len(queue_members) if person.id in queue_members else 0
        )
        to_hide += hidden
        counts.append(person_counts)
    return to_hide, counts


def _plan_for_person(
    db: Session,
    batch: Batch,
    plan: HiddenPlan,
    person: Person,
    stored_queue: Sequence[QueuedQuestion],
    *,
    pool_size: int,
) -> tuple[list[QuestionToHide], HiddenCounts]:
    """Plan the hidden questions of one reviewer.

    ``pool_size`` is the number of members of the shared queue; 0 if the reviewer is not a member.
    """
    existing_hidden = hidden_storage.list_hidden_questions(db, batch_id=batch.id, person_id=person.id)
    # When the first question of a batch is hidden, all positions are multiplied by this factor to make room.
    position_factor = 1 if hidden_storage.find_hidden_set(db, batch_id=batch.id) else POSITION_GAP
    queue = [replace(row, position=row.position * position_factor) for row in stored_queue]
    counts_by_kind = Counter(
        hidden_question.kind for hidden_question in existing_hidden if hidden_question.is_counted
    )
    repeated = frozenset(
        hidden_question.source_question_row_id
        for hidden_question in existing_hidden
        if hidden_question.kind is HiddenKind.REPEAT
    )
    own_count = sum(not question.is_hidden for question in queue)
    if pool_size:
        judged = [question for question in queue if question.first_judged_at is not None]
        judged.sort(key=lambda question: (str(question.first_judged_at), question.question_row_id))
        judged_count = sum(not question.is_hidden for question in judged)
        n_requested = count_missing_repeats(
            plan, own_count=judged_count, existing=counts_by_kind[HiddenKind.REPEAT]
        )
        # The members are expected to share the free questions equally.
        own_count += count_claimable(db, batch_id=batch.id, person_id=person.id) // pool_size
        hidden = [
            QuestionToHide(
                person_id=person.id,
                kind=HiddenKind.REPEAT,
                source_question_row_id=question.question_row_id,
                min_judged_count=after,
            )
            for question, after in choose_repeats_of_judged(
                judged, plan, person_id=person.id, repeated=repeated, count=n_requested
            )
        ]
        gaps = None
    else:
        gaps = QueueGaps(queue)
        n_requested = count_missing_repeats(
            plan, own_count=own_count, existing=counts_by_kind[HiddenKind.REPEAT]
        )
        if not any(question.state is AssignmentState.OPEN for question in queue):
            n_requested = 0
        hidden = [
            QuestionToHide(
                person_id=person.id, kind=HiddenKind.REPEAT, source_question_row_id=question.question_row_id,
                position=compute_position_between(queue, gap),
            )
            for question, gap in choose_repeats_in_queue(
                queue, plan, person_id=person.id, repeated=repeated, gaps=gaps, count=n_requested
            )
        ]  # fmt: skip
    n_repeats = len(hidden)
    planted_count = max(0, plan.count_planted(own_count) - counts_by_kind[HiddenKind.PLANTED])
    if gaps is not None and not any(question.state is AssignmentState.OPEN for question in queue):
        planted_count = 0
    done_count = sum(question.state is AssignmentState.DONE for question in queue)
    hidden += _plan_planted(
        db, batch, plan, person, gaps=gaps, queue=queue, count=planted_count, done_count=done_count
    )
    return hidden, HiddenCounts(
        person=person,
        repeats=n_repeats,
        planted=len(hidden) - n_repeats,
        missing_repeats=n_requested - n_repeats,
        missing_planted=planted_count - (len(hidden) - n_repeats),
    )


def _plan_planted(
    db: Session,
    batch: Batch,
    plan: HiddenPlan,
    person: Person,
    *,
    gaps: QueueGaps | None,
    queue: Sequence[QueuedQuestion],
    count: int,
    done_count: int,
) -> list[QuestionToHide]:
    """Plan ``count`` faults, kinds in turn, each in the first correct question that allows the fault."""
    if not count:
        return []
    start = compute_draw_hash(f"{plan.seed}:planted") % 2**32 / 2**32
    candidates = load_sound_questions(
        db, dataset_id=batch.dataset_id, batch_id=batch.id, start=start, person_id=person.id
    )
    sorted_candidates = sorted(
        candidates,
        key=lambda candidate: (
            candidate[1],
            compute_draw_hash(f"{plan.seed}:planted:{candidate[0]}"),
            candidate[0],
        ),
    )
    numbers = [number for number, _ in sorted_candidates[: count * _MAX_CANDIDATES]]
    reports = load_reports(db, question_row_ids=numbers)
    questions = dict(load_questions(db, question_ids=numbers))
    to_hide: list[QuestionToHide] = []
    used_row_ids: set[int] = set()
    distance = plan.planted_every or plan.min_distance
    for fault_index in range(count):
        fault = plan.faults[fault_index % len(plan.faults)]
        for number in numbers:
            if number in used_row_ids:
                continue
            altered = plant_fault(questions[number], fault, other_texts=reports[number][1], seed=plan.seed)
            if altered is None:
                continue
            random_number = compute_draw_hash(f"{plan.seed}:place:{person.id}:{number}") % 2**32
            position, min_judged_count = (
                None,
                done_count + 1 + fault_index * distance + random_number % distance,
            )
            if gaps is not None:
                gap = gaps.take_gap(exam_row_id=reports[number][0], min_index=0, random_number=random_number)
                if gap is None:
                    continue
                position, min_judged_count = compute_position_between(queue, gap), 0
            used_row_ids.add(number)
            to_hide.append(
                QuestionToHide(
                    person_id=person.id, kind=HiddenKind.PLANTED, source_question_row_id=number, fault=fault,
                    altered_question=altered, position=position, min_judged_count=min_judged_count,
                )
            )  # fmt: skip
            break
    return to_hide
