"""A second reviewer for a random share, and for questions in which the first reported an error."""

from __future__ import annotations

import pytest

from domain.batches import AssignmentState
from domain.errors import InvalidValue, NotAllowed, Refused
from domain.second_opinions import SecondOpinions, SecondOpinionScope
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give, reject, state
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(engine) -> World:
    """Twelve questions, all assigned to ruth."""
    return make_world(engine, assigned_to=("ruth",))


def seek(world: World, **changes):
    how = {"to": ["remo"], "where_found": False, "share": 0.25, "seed": 7, **changes}
    with unit_of_work(world.engine) as db:
        return review.request_second_opinions(db, by=world.people["cora"], batch="first", **how, now=NOW)


def with_remo(world: World) -> set[int]:
    held = (AssignmentState.OPEN, AssignmentState.DONE)
    return {each for each in world.questions if state(world, each, "remo") in held}


def kept(world: World) -> SecondOpinions | None:
    with read_only_session(world.engine) as db:
        return review.load_second_opinions(db, by=world.people["cora"], batch="first")


def test_a_share_of_the_batch_gets_a_second_reviewer(world):
    assert seek(world).assigned == {"remo": 3}
    assert len(with_remo(world)) == 3


def test_the_share_is_the_same_whatever_was_judged(world):
    with read_only_session(world.engine) as db:
        how = {"by": world.people["cora"], "batch": "first", "to": ["remo"], "where_found": False}
        review.preview_second_opinions(db, **how, share=0.25, seed=7)
    for question in world.questions[:6]:
        give(world, reject(world, question=question))
    seek(world)
    ids = {number: f"q{number}" for number in range(1000)}
    sought = SecondOpinions(way=SecondOpinionScope.RANDOM_SHARE, share=0.2, seed=7)
    assert sought.draw_random_share(ids) == sought.draw_random_share(dict(reversed(ids.items())))
    assert len(sought.draw_random_share(ids)) == 200


def test_a_larger_share_holds_the_smaller_one():
    ids = {number: f"q{number}" for number in range(100)}
    small, large = (
        SecondOpinions(way=SecondOpinionScope.RANDOM_SHARE, share=share, seed=3).draw_random_share(ids)
        for share in (0.1, 0.4)
    )
    assert small < large


def test_where_something_was_found_a_second_reviewer_comes_as_verdicts_come(world):
    drawn = with_remo(world) or (seek(world, where_found=True) and with_remo(world))
    rest = [each for each in world.questions if each not in drawn]
    give(world, reject(world, question=rest[0]))
    give(world, accept(world, question=rest[1]))
    again = seek(world, where_found=True, share=None, seed=None)
    assert (again.assigned, again.random_count, again.found_count) == ({"remo": 1}, 0, 1)
    assert with_remo(world) == {*drawn, rest[0]}
    assert kept(world) == SecondOpinions(way=SecondOpinionScope.SHARE_AND_ERRORS, share=0.25, seed=7)


def test_where_something_was_found_alone_is_refused_with_the_reason(world):
    with pytest.raises(Refused, match="would bias agreement"):
        seek(world, where_found=True, share=None)
    assert kept(world) is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"seed": 8}, "drawn with seed 7"), ({"share": 0.1}, "can be increased"), ({}, "cannot be undone")],
)
def test_what_was_begun_is_gone_on_with(world, changes, why):
    seek(world, where_found=True)
    with pytest.raises(Refused, match=why):
        seek(world, **changes)


def test_a_question_without_a_first_reviewer_is_left_for_later(engine):
    world = make_world(engine)
    summary = seek(world)
    assert summary.assigned == {"remo": 0}
    assert any("3 questions have no first reviewer" in note for note in summary.notes)


def test_nobody_is_their_own_second(world):
    summary = seek(world, to=["ruth"])
    assert summary.assigned == {"ruth": 0}
    assert any("have no second reviewer" in note for note in summary.notes)


def test_a_share_is_above_none_and_at_most_all(world):
    with pytest.raises(InvalidValue, match="at most 1"):
        seek(world, share=1.5)


def test_reviewers_seek_no_second_opinions(world):
    with pytest.raises(NotAllowed), unit_of_work(world.engine) as db:
        review.request_second_opinions(
            db, by=world.people["ruth"], batch="first", to=["remo"], where_found=False, share=0.2, seed=1,
            now=NOW,
        )  # fmt: skip
