"""A second reviewer for a random share, and for questions in which the first reviewer reported an error."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from domain.batches import AssignmentState
from domain.errors import InvalidValue, NotAllowed, Refused
from domain.people import Person, Role
from domain.second_opinions import SecondOpinions, SecondOpinionScope
from review import service as review
from storage.rows.datasets import QuestionRow
from storage.rows.people import PersonRoleRow, PersonRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import load_assignment_state, make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(engine) -> World:
    """Twelve questions, all assigned to ruth."""
    return make_world(engine, assigned_to=("ruth",))


def request_second_opinions(world: World, **changes):
    arguments = {
        "to": ["remo"],
        "scope": SecondOpinionScope.RANDOM_SHARE,
        "share": 0.25,
        "seed": 7,
        **changes,
    }
    with unit_of_work(world.engine) as db:
        return review.request_second_opinions(
            db, by=world.people["cora"], batch="first", **arguments, now=NOW
        )


#: A further request by expected information, with share and seed as before.
BY_INFORMATION = {"scope": SecondOpinionScope.SHARE_AND_INFORMATION, "share": None, "seed": None}


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


def test_the_random_share_does_not_depend_on_verdicts(world):
    with read_only_session(world.engine) as db:
        ids = {row.id: row.key for row in db.execute(select(QuestionRow.id, QuestionRow.key))}
    plan = SecondOpinions(scope=SecondOpinionScope.RANDOM_SHARE, share=0.25, seed=7)
    for question in world.questions[:6]:
        save_verdict(world, make_rejection(world, question=question))
    request_second_opinions(world)
    assert list_questions_of_remo(world) == plan.draw_random_share(ids)


def test_the_random_share_does_not_depend_on_the_order_of_questions():
    ids = {number: f"q{number}" for number in range(1000)}
    plan = SecondOpinions(scope=SecondOpinionScope.RANDOM_SHARE, share=0.2, seed=7)
    assert plan.draw_random_share(ids) == plan.draw_random_share(dict(reversed(ids.items())))
    assert len(plan.draw_random_share(ids)) == 200


def test_larger_share_contains_the_smaller_share():
    ids = {number: f"q{number}" for number in range(100)}
    small, large = (
        SecondOpinions(scope=SecondOpinionScope.RANDOM_SHARE, share=share, seed=3).draw_random_share(ids)
        for share in (0.1, 0.4)
    )
    assert small < large


def test_questions_with_errors_get_a_second_reviewer_after_verdicts(world):
    random_share = list_questions_of_remo(world) or (
        request_second_opinions(world, scope=SecondOpinionScope.SHARE_AND_ERRORS)
        and list_questions_of_remo(world)
    )
    others = [question for question in world.questions if question not in random_share]
    save_verdict(world, make_rejection(world, question=others[0]))
    save_verdict(world, make_acceptance(world, question=others[1]))
    summary = request_second_opinions(world, scope=SecondOpinionScope.SHARE_AND_ERRORS, share=None, seed=None)
    assert (summary.assigned, summary.random_count, summary.added_count) == ({"remo": 1}, 0, 1)
    assert list_questions_of_remo(world) == {*random_share, others[0]}
    assert load_saved_plan(world) == SecondOpinions(
        scope=SecondOpinionScope.SHARE_AND_ERRORS, share=0.25, seed=7
    )


def test_second_opinions_for_errors_only_are_refused(world):
    with pytest.raises(Refused, match="would bias agreement"):
        request_second_opinions(world, scope=SecondOpinionScope.SHARE_AND_ERRORS, share=None)
    assert load_saved_plan(world) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"seed": 8}, "drawn with seed 7"), ({"share": 0.1}, "can be increased"), ({}, "cannot be undone")],
)
def test_second_opinion_plan_cannot_be_changed_or_reduced(world, changes, message):
    request_second_opinions(world, scope=SecondOpinionScope.SHARE_AND_ERRORS)
    with pytest.raises(Refused, match=message):
        request_second_opinions(world, **changes)


def test_question_without_a_first_reviewer_is_not_assigned(engine):
    world = make_world(engine)
    summary = request_second_opinions(world)
    assert summary.assigned == {"remo": 0}
    assert any("Without a first reviewer: 3 questions" in note for note in summary.notes)


def test_first_reviewer_is_never_the_second_reviewer(world):
    summary = request_second_opinions(world, to=["ruth"])
    assert summary.assigned == {"ruth": 0}
    assert any("Without a second reviewer: 3 questions" in note for note in summary.notes)


def test_share_above_one_is_refused(world):
    with pytest.raises(InvalidValue, match="at most 1"):
        request_second_opinions(world, share=1.5)


def test_reviewers_may_not_request_second_opinions(world):
    with pytest.raises(NotAllowed), unit_of_work(world.engine) as db:
        review.request_second_opinions(
            db, by=world.people["ruth"], batch="first", to=["remo"],
            scope=SecondOpinionScope.RANDOM_SHARE, share=0.2, seed=1,
            now=NOW,
        )  # fmt: skip


def judge(world, questions, person="ruth", rejected=()):
    for question in questions:
        make_verdict = make_rejection if question in rejected else make_acceptance
        save_verdict(world, make_verdict(world, question=question, person=person), person)


def add_reviewer(world, name):
    with unit_of_work(world.engine) as db:
        row = PersonRow(name=name, display_name=name.title(), created_at=NOW)
        db.add(row)
        db.flush()
        db.add(PersonRoleRow(person_id=row.id, role=Role.REVIEWER))
        roles = frozenset({Role.REVIEWER})
        world.people[name] = Person(id=row.id, name=name, display_name=name.title(), roles=roles)


def test_questions_of_the_random_share_are_not_chosen_by_expected_information(world):
    request_second_opinions(world)
    random_share = list_questions_of_remo(world)
    judge(world, world.questions)
    summary = request_second_opinions(world, **BY_INFORMATION, to=["remo"], informative=20)
    assert (summary.random_count, summary.added_count) == (0, 9)
    assert list_questions_of_remo(world) == set(world.questions)
    with read_only_session(world.engine) as db:
        preview = review.preview_second_opinions(
            db, by=world.people["cora"], batch="first", to=["ruth"], share=None, seed=None, informative=20,
            scope=SecondOpinionScope.SHARE_AND_INFORMATION,
        )  # fmt: skip
    assert (preview.assigned, len(random_share)) == ({"ruth": 0}, 3)  # all wait for remo's verdict
    assert any(note.startswith("No question can be chosen by expected information") for note in preview.notes)


def test_a_question_on_which_two_reviewers_disagree_comes_first_and_nobody_judges_twice(world):
    add_reviewer(world, "rosa")
    request_second_opinions(world, share=0.01)
    random_share = list_questions_of_remo(world)
    first, second, *_ = [question for question in world.questions if question not in random_share]
    judge(world, world.questions, rejected=[first])
    request_second_opinions(world, **BY_INFORMATION, to=["remo"], informative=11)
    judge(world, [first, second], person="remo")
    summary = request_second_opinions(world, **BY_INFORMATION, to=["remo", "rosa"], informative=1)
    assert summary.assigned == {"remo": 0, "rosa": 1}
    assert load_assignment_state(world, first, "rosa") is AssignmentState.OPEN
    assert load_saved_plan(world).scope is SecondOpinionScope.SHARE_AND_INFORMATION


def test_after_a_choice_by_information_the_random_share_stays(world):
    request_second_opinions(world, **BY_INFORMATION | {"share": 0.25, "seed": 7}, informative=1)
    with pytest.raises(Refused, match="cannot be increased after opinions were chosen"):
        request_second_opinions(world, **BY_INFORMATION | {"share": 0.5}, informative=1)
    with pytest.raises(Refused, match="Choose by expected information"):
        request_second_opinions(world, scope=SecondOpinionScope.SHARE_AND_ERRORS)
    with pytest.raises(InvalidValue, match="must be 1 or more, not 0"):
        request_second_opinions(world, **BY_INFORMATION)


def test_a_choice_by_information_needs_a_random_share(world):
    with pytest.raises(Refused, match="would bias agreement"):
        request_second_opinions(world, **BY_INFORMATION, informative=3)


def test_only_the_random_share_counts_for_agreement_after_a_choice_by_information(world):
    request_second_opinions(world, share=0.5)
    random_share = list_questions_of_remo(world)
    judge(world, world.questions)
    request_second_opinions(world, **BY_INFORMATION, informative=6)
    judge(world, world.questions, person="remo")
    with read_only_session(world.engine) as db:
        agreement = review.compute_batch_agreement(db, by=world.people["cora"], batch="first")
    assert (agreement.shared, agreement.counted) == (12, len(random_share))
    assert agreement.consensus.questions == 12
    assert agreement.consensus.note.startswith("not defined: 0 questions judged by three")
