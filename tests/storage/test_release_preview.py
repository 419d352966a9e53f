"""The preview of a release counts what the release would contain, without reading every question."""

from __future__ import annotations

import numpy as np
import pytest

from accounts.service import command_line_person
from domain.corrections import Correction
from domain.verdicts import Decision, ErrorKind
from release.service import preview_release
from release.service.inputs import build_tally, load_drawn_batches, load_outcomes
from release.service.preview import count_simple_outcomes
from release.tally import Tally, TallyCounter
from storage.unit_of_work import read_only_session
from tests.golden.release_world import judged_world
from tests.storage.judgements import accept, give, reject
from tests.storage.worlds import World, make_world


def looked_at(world: World) -> Tally:
    """The counts from reading and resolving every judged question, as the creation of a release does."""
    with read_only_session(world.engine) as db:
        _, drawn = load_drawn_batches(db, "demo", None)
        counting = TallyCounter()
        for settled in load_outcomes(db, [each.batch for each in drawn], with_report=False):
            counting.add(settled)
        return build_tally(db, counting, drawn)


def previewed(world: World) -> Tally:
    with read_only_session(world.engine) as db:
        return preview_release(db, by=command_line_person(), dataset="demo")


@pytest.fixture
def differing(engine) -> World:
    """Four questions: accepted by both, rejected by one, rejected by both, corrected by one."""
    world = make_world(engine, assigned_to=["ruth", "remo"])
    for person in ("ruth", "remo"):
        give(world, accept(world, question=1, person=person), person)
        give(world, reject(world, question=3, person=person), person)
    give(world, accept(world, question=2), "ruth")
    give(world, reject(world, question=2, person="remo"), "remo")
    give(
        world,
        accept(
            world, question=4, decision=Decision.REVISE, errors=frozenset({ErrorKind.WORDING}),
            correction=Correction(stem="What is seen on the left?"),
        ),
    )  # fmt: skip
    return world


def test_a_preview_counts_what_a_release_would_hold(engine):
    world = judged_world(engine)
    assert previewed(world) == looked_at(world)


def test_a_preview_counts_questions_on_which_reviewers_differ(differing):
    assert previewed(differing) == looked_at(differing)
    assert previewed(differing).excluded == {
        "rejected": 1,
        "rejected by one reviewer, not by another": 1,
    }


@pytest.mark.parametrize("seed", range(5))
def test_a_preview_counts_whatever_reviewers_decide(sqlite_engine, seed):
    chance = np.random.default_rng(seed)
    world = make_world(sqlite_engine, assigned_to=["ruth", "remo"])
    for question in range(1, 13):
        for person in ("ruth", "remo"):
            decision = (None, *Decision)[chance.integers(4)]
            if decision is Decision.REJECT:
                give(world, reject(world, question=question, person=person), person)
            elif decision is Decision.REVISE:
                correction = Correction(
                    stem=("What is seen?", "What is seen on the left?")[chance.integers(2)]
                )
                errors = frozenset({ErrorKind.WORDING})
                revised = accept(
                    world, question=question, person=person, decision=decision, errors=errors,
                    correction=correction,
                )  # fmt: skip
                give(world, revised, person)
            elif decision is not None:
                give(world, accept(world, question=question, person=person), person)
    assert previewed(world) == looked_at(world)


def test_only_questions_with_corrections_are_read(differing):
    with read_only_session(differing.engine) as db:
        assert count_simple_outcomes(db, [differing.batch], TallyCounter()) == {4}


def test_before_any_verdict_nothing_is_held(engine):
    world = make_world(engine, assigned_to=["ruth"])
    assert previewed(world) == looked_at(world)
    assert (previewed(world).judged, previewed(world).unjudged) == (0, 12)
