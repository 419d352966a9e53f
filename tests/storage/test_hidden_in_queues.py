"""Hidden questions in a shared queue, where it is not known beforehand who judges which question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.batches import AssignmentState
from domain.hidden import HiddenKind, HiddenPlan, PlantedFault
from review import service as review
from storage.review.hidden import list_hidden_questions
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import load_assignment_state, make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, make_batch, make_world

PLAN = HiddenPlan(
    repeat_share=0.2, min_distance=5, planted_count=2, faults=(PlantedFault.KEY_SWAPPED,), seed=3
)


def hide_questions(world: World, plan: HiddenPlan) -> review.HiddenSummary:
    with unit_of_work(world.engine) as db:
        return review.hide_questions(
            db, by=world.people["cora"], batch="asked", plan=plan, mask_secret=0x1234_5678_9ABC, now=NOW
        )


def list_hidden(world: World):
    with read_only_session(world.engine) as db:
        return list_hidden_questions(db, batch_id=world.batch.id, person_id=world.people["ruth"].id)


@pytest.mark.slow
def test_hidden_questions_in_a_shared_queue_keep_their_distance(engine):
    full_world = make_world(engine, questions=40)
    with unit_of_work(engine) as db:
        batch = make_batch(
            db, dataset_id=full_world.dataset_id, name="asked", questions=full_world.questions[:30]
        )
        review.share_batch(db, by=full_world.people["cora"], batch="asked", to=["ruth"], now=NOW)
    world, ruth = replace(full_world, batch=batch), full_world.people["ruth"]

    def claim_next(after):
        with unit_of_work(engine) as db:
            return review.claim_next(db, person=ruth, batch_id=batch.id, after=after, now=NOW).question

    def count_total():
        with read_only_session(engine) as db:
            (overview,) = review.list_batches_for_reviewer(db, person=ruth)
        return overview.progress.total

    judged, last_number = [], None
    for _ in range(12):
        last_number = claim_next(last_number)
        judged.append(last_number)
        save_verdict(world, make_acceptance(world, question=last_number))
    summary = hide_questions(world, replace(PLAN, min_distance=4))
    assert summary.people[0].repeats == 2  # a fifth of the twelve judged so far
    total_before = count_total()
    assert total_before == 34
    while (number := claim_next(last_number)) is not None:
        last_number = number
        judged.append(number)
        with read_only_session(engine) as db:
            assert review.may_hand_back(db, person=ruth, batch_id=batch.id, question_row_id=number)
        save_verdict(world, make_acceptance(world, question=number))
        assert count_total() == total_before
    assert len(judged) == len(set(judged)) == 34
    hidden_by_number = {question.question_row_id: question for question in list_hidden(world)}
    for number, question in hidden_by_number.items():
        if question.kind is HiddenKind.REPEAT:
            assert judged.index(number) - judged.index(question.source_question_row_id) - 1 >= 4
    assert judged[12] not in hidden_by_number


def test_hidden_question_can_be_returned_like_any_other_question(engine):
    full_world = make_world(engine, questions=12)
    with unit_of_work(engine) as db:
        batch = make_batch(
            db, dataset_id=full_world.dataset_id, name="asked", questions=full_world.questions[:4]
        )
        review.share_batch(db, by=full_world.people["cora"], batch="asked", to=["ruth"], now=NOW)
    world, ruth = replace(full_world, batch=batch), full_world.people["ruth"]
    hide_questions(world, replace(PLAN, repeat_share=0, planted_count=1, min_distance=1))
    (planted,) = list_hidden(world)
    with unit_of_work(engine) as db:
        last_number = review.claim_next(db, person=ruth, batch_id=batch.id, now=NOW).question
    while last_number != planted.question_row_id:
        save_verdict(world, make_acceptance(world, question=last_number))
        with unit_of_work(engine) as db:
            last_number = review.claim_next(
                db, person=ruth, batch_id=batch.id, after=last_number, now=NOW
            ).question
    with unit_of_work(engine) as db:
        review.hand_back(db, person=ruth, batch_id=batch.id, question_row_id=last_number, now=NOW)
    assert load_assignment_state(world, last_number) is AssignmentState.WITHDRAWN
