"""Verdicts that are refused, and the message of each refusal. On both databases."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine

from domain.batches import AssignmentState, BatchSettings, FormScope
from domain.boxes import Box, LabelledBox
from domain.corrections import Correction
from domain.errors import InvalidValue, NotFound, Refused
from domain.ratings import Ratings
from domain.verdicts import Decision
from review import service as review
from storage.unit_of_work import unit_of_work
from tests.storage.judgements import accept, give, reject, saved, state
from tests.storage.worlds import NOW, World, close, make_world


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth", "remo"])


def with_settings(engine: Engine, **settings) -> World:
    return make_world(engine, assigned_to=["ruth"], settings=BatchSettings(**settings))


@pytest.mark.parametrize(("batch", "question"), [(1, 1), (1, 99), (99, 1)])
def test_who_asks_for_a_question_that_is_not_theirs_learns_no_name_nor_whether_it_is_there(
    engine, batch, question
):
    world = make_world(engine, assigned_to=["ruth"])
    remo = world.people["remo"]
    asked: dict[str, Any] = {"person": remo, "batch_id": batch, "now": NOW}
    for service, named in ((review.load_sheet, "question"), (review.open_report, "question_number")):
        more: dict[str, Any] = {"image_alignment": 3} if service is review.open_report else {}
        with unit_of_work(engine) as db, pytest.raises(NotFound) as refused:
            service(db, **asked, **{named: question}, **more)
        assert str(refused.value).startswith(
            f"This question of batch number {batch} does not exist or is not assigned to Remo."
        )
        assert world.batch.name not in str(refused.value)


def test_a_question_that_is_not_the_persons_is_refused(engine):
    world = make_world(engine, assigned_to=["ruth"])
    with pytest.raises(NotFound, match="not assigned to Remo"):
        give(world, accept(world, question=1, person="remo"), person="remo")


def test_a_question_that_was_taken_back_is_refused(world):
    with unit_of_work(world.engine) as db:
        review.withdraw(db, by=world.people["cora"], batch="first", from_="ruth", now=NOW)
    with pytest.raises(Refused, match="unassigned or reassigned"):
        give(world, accept(world, question=1))


def test_a_closed_batch_takes_no_verdict(world):
    close(world.engine, world.batch)
    with pytest.raises(Refused, match="batch first is closed"):
        give(world, accept(world, question=1))


def test_a_verdict_that_was_saved_before_the_batch_was_closed_still_comes_back(world):
    first = give(world, accept(world, question=1))
    close(world.engine, world.batch)
    assert give(world, accept(world, question=1)) == first


def test_an_accept_names_what_was_not_judged(world):
    with pytest.raises(Refused, match="Not judged yet: image alignment, your own difficulty"):
        give(
            world,
            accept(
                world,
                question=1,
                ratings=Ratings(clinical_quality=4, explanation_clarity=4, factual_correctness=4),
                difficulty=None,
            ),
        )


def test_where_there_is_no_explanation_its_clarity_is_not_asked(world):
    with world.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE question SET explanation = ' '")
    rest = Ratings(clinical_quality=4, factual_correctness=4, image_alignment=4)
    give(world, accept(world, question=1, ratings=rest))
    assert saved(world).opinion.ratings == rest


def test_a_reject_needs_only_the_kind_of_error(world):
    give(world, reject(world, question=1, ratings=Ratings(), difficulty=None, cognitive_depth=None))
    assert saved(world).opinion.ratings == Ratings()


def test_image_alignment_only_asks_for_that_rating(engine):
    world = with_settings(engine, parts=FormScope.IMAGE_ALIGNMENT)
    bare = {"domain_specific": None, "cognitive_depth": None, "difficulty": None}
    with pytest.raises(Refused, match="Not judged yet: image alignment"):
        give(world, accept(world, question=1, ratings=Ratings(), **bare))
    give(world, accept(world, question=1, ratings=Ratings(image_alignment=2), **bare))


def test_key_only_asks_for_the_decision_alone(engine):
    world = with_settings(engine, parts=FormScope.KEY)
    give(
        world,
        accept(
            world,
            question=1,
            ratings=Ratings(),
            domain_specific=None,
            cognitive_depth=None,
            difficulty=None,
        ),
    )
    assert saved(world).opinion.ratings == Ratings()


def test_key_only_corrects_nothing_but_options_and_key(engine):
    world = with_settings(engine, parts=FormScope.KEY)
    wrong = accept(
        world, question=1, decision=Decision.REVISE, correction=Correction(stem="Another stem?", answer=(0,))
    )
    with pytest.raises(Refused, match="requests the answer key only; stem cannot be corrected"):
        give(world, wrong)
    give(world, accept(world, question=1, decision=Decision.REVISE, correction=Correction(answer=(0,))))


def test_a_correction_equal_to_the_question_is_no_correction(world):
    same = accept(world, question=1, decision=Decision.REVISE, correction=Correction(answer=(1,)))
    with pytest.raises(InvalidValue, match="nothing was corrected"):
        give(world, same)


def test_only_what_really_changes_is_kept_of_a_correction(world):
    correction = Correction(answer=(2,), options=("Nodule", "Effusion", "Pneumothorax"))
    give(world, accept(world, question=1, decision=Decision.REVISE, correction=correction))
    assert saved(world).opinion.correction == Correction(answer=(2,))


def test_a_corrected_key_must_be_an_option(world):
    wrong = accept(world, question=1, decision=Decision.REVISE, correction=Correction(answer=(3,)))
    with pytest.raises(InvalidValue, match="is not an option"):
        give(world, wrong)


@pytest.mark.parametrize(
    ("radiograph", "x_max", "reason"),
    [
        ("pa", 2501, "is outside radiograph pa, which is 2500 x 3000"),
        ("ap", 20, "does not belong to this exam"),
    ],
)
def test_a_corrected_box_lies_on_a_radiograph_of_the_exam(world, radiograph, x_max, reason):
    box = LabelledBox(radiograph=radiograph, label="nodule", box=Box(x_min=0, y_min=0, x_max=x_max, y_max=9))
    wrong = accept(world, question=1, decision=Decision.REVISE, correction=Correction(boxes=(box,)))
    with pytest.raises(InvalidValue, match=reason):
        give(world, wrong)


def test_a_refused_verdict_leaves_the_question_open(world):
    with pytest.raises(Refused):
        give(world, accept(world, question=1, difficulty=None))
    assert (state(world), saved(world)) == (AssignmentState.OPEN, None)
