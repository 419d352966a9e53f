"""Hidden questions in a shared queue, where it is not known beforehand who judges which question."""

from __future__ import annotations

from dataclasses import replace

from domain.batches import AssignmentState
from domain.hidden import HiddenKind, HiddenPlan, PlantedFault
from review import service as review
from storage.review.hidden import list_hidden_questions
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give, state
from tests.storage.worlds import NOW, World, make_batch, make_world

PLAN = HiddenPlan(repeats=0.2, distance=5, planted=2, faults=(PlantedFault.KEY_SWAPPED,), seed=3)


def hide(world: World, plan: HiddenPlan) -> review.HiddenSummary:
    with unit_of_work(world.engine) as db:
        return review.hide_questions(
            db, by=world.people["cora"], batch="asked", plan=plan, mask_secret=0x1234_5678_9ABC, now=NOW
        )


def hidden(world: World):
    with read_only_session(world.engine) as db:
        return list_hidden_questions(db, batch_id=world.batch.id, person_id=world.people["ruth"].id)


def test_in_a_shared_queue_they_come_once_enough_is_judged_and_the_total_never_moves(engine):
    made = make_world(engine, questions=40)
    with unit_of_work(engine) as db:
        batch = make_batch(db, dataset_id=made.dataset_id, name="asked", questions=made.questions[:30])
        review.share_batch(db, by=made.people["cora"], batch="asked", to=["ruth"], now=NOW)
    world, ruth = replace(made, batch=batch), made.people["ruth"]

    def take(after):
        with unit_of_work(engine) as db:
            return review.claim_next(db, person=ruth, batch_id=batch.id, after=after, now=NOW).question

    def total():
        with read_only_session(engine) as db:
            (mine,) = review.list_batches_for_reviewer(db, person=ruth)
        return mine.progress.total

    met, last = [], None
    for _ in range(12):
        last = take(last)
        met.append(last)
        give(world, accept(world, question=last))
    summary = hide(world, replace(PLAN, distance=4))
    assert summary.people[0].repeats == 2  # a fifth of the twelve judged so far
    whole = total()
    assert whole == 34
    while (number := take(last)) is not None:
        last = number
        met.append(number)
        with read_only_session(engine) as db:
            assert review.may_hand_back(db, person=ruth, batch_id=batch.id, question_number=number)
        give(world, accept(world, question=number))
        assert total() == whole
    assert len(met) == len(set(met)) == 34
    of = {each.number: each for each in hidden(world)}
    for number, each in of.items():
        if each.kind is HiddenKind.REPEAT:
            assert met.index(number) - met.index(each.source_number) - 1 >= 4
    assert met[12] not in of


def test_a_hidden_question_can_be_handed_back_as_any_other(engine):
    made = make_world(engine, questions=12)
    with unit_of_work(engine) as db:
        batch = make_batch(db, dataset_id=made.dataset_id, name="asked", questions=made.questions[:4])
        review.share_batch(db, by=made.people["cora"], batch="asked", to=["ruth"], now=NOW)
    world, ruth = replace(made, batch=batch), made.people["ruth"]
    hide(world, replace(PLAN, repeats=0, planted=1, distance=1))
    (one,) = hidden(world)
    with unit_of_work(engine) as db:
        last = review.claim_next(db, person=ruth, batch_id=batch.id, now=NOW).question
    while last != one.number:
        give(world, accept(world, question=last))
        with unit_of_work(engine) as db:
            last = review.claim_next(db, person=ruth, batch_id=batch.id, after=last, now=NOW).question
    with unit_of_work(engine) as db:
        review.hand_back(db, person=ruth, batch_id=batch.id, question_number=last, now=NOW)
    assert state(world, last) is AssignmentState.WITHDRAWN
