"""A second reviewer for a random share, and for questions in which the first reported an error."""

from __future__ import annotations

import pytest

from domain.batches import AssignmentState
from domain.errors import InvalidValue, NotAllowed, Refused
from domain.second_opinions import SecondOpinions, SecondOpinionScope
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import load_assignment_state, make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(engine) -> World:
    """Twelve questions, all assigned to ruth."""
    return make_world(engine, assigned_to=("ruth",))


def request_second_opinions(world: World, **changes):
    arguments = {"to": ["remo"], "where_found": False, "share": 0.25, "seed": 7, **changes}
    with unit_of_work(world.engine) as db:
        return review.request_second_opinions(
            db, by=world.people["cora"], batch="first", **arguments, now=NOW
        )


def list_questions_of_remo(world: World) -> set[int]:
    active_states = (AssignmentState.OPEN, AssignmentState.DONE)
    return {
        question
        for question in world.questions
        if load_assignment_state(world, question, "remo") in active_states
    }


def load_saved_plan(world: World) -> SecondOpinions | None:
    with read_only_session(world.engine) as db:
        return review.load_second_opinions(db, by=world.people["cora"], batch="first")


def test_a_share_of_the_batch_gets_a_second_reviewer(world):
    assert request_second_opinions(world).assigned == {"remo": 3}
    assert len(list_questions_of_remo(world)) == 3


def test_share_does_not_depend_on_verdicts(world):
    with read_only_session(world.engine) as db:
        arguments = {"by": world.people["cora"], "batch": "first", "to": ["remo"], "where_found": False}
        review.preview_second_opinions(db, **arguments, share=0.25, seed=7)
    for question in world.questions[:6]:
        save_verdict(world, make_rejection(world, question=question))
    request_second_opinions(world)
    ids = {number: f"q{number}" for number in range(1000)}
    plan = SecondOpinions(scope=SecondOpinionScope.RANDOM_SHARE, share=0.2, seed=7)
    assert plan.draw_random_share(ids) == plan.draw_random_share(dict(reversed(ids.items())))
    assert len(plan.draw_random_share(ids)) == 200


def test_larger_share_contains_the_smaller_one():
    ids = {number: f"q{number}" for number in range(100)}
    small, large = (
        SecondOpinions(scope=SecondOpinionScope.RANDOM_SHARE, share=share, seed=3).draw_random_share(ids)
        for share in (0.1, 0.4)
    )
    assert small < large


def test_questions_with_errors_get_a_second_reviewer_after_verdicts(world):
    random_share = list_questions_of_remo(world) or (
        request_second_opinions(world, where_found=True) and list_questions_of_remo(world)
    )
    others = [question for question in world.questions if question not in random_share]
    save_verdict(world, make_rejection(world, question=others[0]))
    save_verdict(world, make_acceptance(world, question=others[1]))
    summary = request_second_opinions(world, where_found=True, share=None, seed=None)
    assert (summary.assigned, summary.random_count, summary.found_count) == ({"remo": 1}, 0, 1)
    assert list_questions_of_remo(world) == {*random_share, others[0]}
    assert load_saved_plan(world) == SecondOpinions(
        scope=SecondOpinionScope.SHARE_AND_ERRORS, share=0.25, seed=7
    )


def test_second_opinions_for_errors_only_are_refused(world):
    with pytest.raises(Refused, match="would bias agreement"):
        request_second_opinions(world, where_found=True, share=None)
    assert load_saved_plan(world) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"seed": 8}, "drawn with seed 7"), ({"share": 0.1}, "can be increased"), ({}, "cannot be undone")],
)
def test_second_opinion_plan_cannot_be_changed_or_reduced(world, changes, why):
    request_second_opinions(world, where_found=True)
    with pytest.raises(Refused, match=why):
        request_second_opinions(world, **changes)


def test_question_without_a_first_reviewer_is_not_assigned(engine):
    world = make_world(engine)
    summary = request_second_opinions(world)
    assert summary.assigned == {"remo": 0}
    assert any("Without a first reviewer: 3 questions" in note for note in summary.notes)


def test_first_reviewer_is_never_the_second(world):
    summary = request_second_opinions(world, to=["ruth"])
    assert summary.assigned == {"ruth": 0}
    assert any("Without a second reviewer: 3 questions" in note for note in summary.notes)


def test_share_above_one_is_refused(world):
    with pytest.raises(InvalidValue, match="at most 1"):
        request_second_opinions(world, share=1.5)


def test_reviewers_may_not_request_second_opinions(world):
    with pytest.raises(NotAllowed), unit_of_work(world.engine) as db:
        review.request_second_opinions(
            db, by=world.people["ruth"], batch="first", to=["remo"], where_found=False, share=0.2, seed=1,
            now=NOW,
        )  # fmt: skip
