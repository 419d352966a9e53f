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
from tests.golden.release_world import make_judged_world
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import World, make_world


def tally_by_reading(world: World) -> Tally:
    """Read and resolve every judged question, as the creation of a release does; return the counts."""
    with read_only_session(world.engine) as db:
        _, drawn_batches = load_drawn_batches(db, "demo", None)
        counter = TallyCounter()
        for outcome in load_outcomes(
            db, [drawn_batch.batch for drawn_batch in drawn_batches], with_report=False
        ):
            counter.add(outcome)
        return build_tally(db, counter, drawn_batches)


def load_preview(world: World) -> Tally:
    with read_only_session(world.engine) as db:
        return preview_release(db, by=command_line_person(), dataset="demo")


@pytest.fixture
def disputed_world(engine) -> World:
    """Four questions: accepted by both, rejected by one, rejected by both, corrected by one."""
    world = make_world(engine, assigned_to=["ruth", "remo"])
    for person in ("ruth", "remo"):
        save_verdict(world, make_acceptance(world, question=1, person=person), person)
        save_verdict(world, make_rejection(world, question=3, person=person), person)
    save_verdict(world, make_acceptance(world, question=2), "ruth")
    save_verdict(world, make_rejection(world, question=2, person="remo"), "remo")
    save_verdict(
        world,
        make_acceptance(
            world, question=4, decision=Decision.REVISE, errors=frozenset({ErrorKind.WORDING}),
            correction=Correction(stem="What is seen on the left?"),
        ),
    )  # fmt: skip
    return world


def test_preview_equals_the_tally_of_all_questions(engine):
    world = make_judged_world(engine)
    assert load_preview(world) == tally_by_reading(world)


def test_preview_counts_questions_with_differing_verdicts(disputed_world):
    assert load_preview(disputed_world) == tally_by_reading(disputed_world)
    assert load_preview(disputed_world).excluded == {
        "rejected": 1,
        "rejected by one reviewer, not by another": 1,
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.slow
def test_preview_is_right_for_random_verdicts(sqlite_engine, seed):
    rng = np.random.default_rng(seed)
    world = make_world(sqlite_engine, assigned_to=["ruth", "remo"])
    for question in range(1, 13):
        for person in ("ruth", "remo"):
            decision = (None, *Decision)[rng.integers(4)]
            if decision is Decision.REJECT:
                save_verdict(world, make_rejection(world, question=question, person=person), person)
            elif decision is Decision.REVISE:
                correction = Correction(stem=("What is seen?", "What is seen on the left?")[rng.integers(2)])
                errors = frozenset({ErrorKind.WORDING})
                revised = make_acceptance(
                    world, question=question, person=person, decision=decision, errors=errors,
                    correction=correction,
                )  # fmt: skip
                save_verdict(world, revised, person)
            elif decision is not None:
                save_verdict(world, make_acceptance(world, question=question, person=person), person)
    assert load_preview(world) == tally_by_reading(world)


def test_only_questions_with_corrections_are_read(disputed_world):
    with read_only_session(disputed_world.engine) as db:
        assert count_simple_outcomes(db, [disputed_world.batch], TallyCounter()) == {4}


def test_preview_without_verdicts_counts_nothing(engine):
    world = make_world(engine, assigned_to=["ruth"])
    assert load_preview(world) == tally_by_reading(world)
    assert (load_preview(world).judged, load_preview(world).unjudged) == (0, 12)
