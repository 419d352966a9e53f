"""Verdicts that are refused, and the message of each refusal. On SQLite and PostgreSQL."""

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
from tests.storage.judgements import (
    load_assignment_state,
    load_verdict,
    make_acceptance,
    make_rejection,
    save_verdict,
)
from tests.storage.worlds import NOW, World, close_batch, make_world


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth", "remo"])


def make_world_with_settings(engine: Engine, **settings) -> World:
    return make_world(engine, assigned_to=["ruth"], settings=BatchSettings(**settings))


@pytest.mark.parametrize(("batch", "question"), [(1, 1), (1, 99), (99, 1)])
def test_refusal_does_not_reveal_whether_a_question_exists(engine, batch, question):
    world = make_world(engine, assigned_to=["ruth"])
    remo = world.people["remo"]
    arguments: dict[str, Any] = {"person": remo, "batch_id": batch, "now": NOW}
    for service, parameter in ((review.load_sheet, "question"), (review.open_report, "question_row_id")):
        extra_arguments: dict[str, Any] = {"image_alignment": 3} if service is review.open_report else {}
        with unit_of_work(engine) as db, pytest.raises(NotFound) as refusal:
            service(db, **arguments, **{parameter: question}, **extra_arguments)
        assert str(refusal.value).startswith(
            f"This question of batch {batch} does not exist or is not assigned to Remo."
        )
        assert world.batch.name not in str(refusal.value)


def test_question_of_another_reviewer_is_refused(engine):
    world = make_world(engine, assigned_to=["ruth"])
    with pytest.raises(NotFound, match="not assigned to Remo"):
        save_verdict(world, make_acceptance(world, question=1, person="remo"), person="remo")


def test_withdrawn_question_is_refused(world):
    with unit_of_work(world.engine) as db:
        review.withdraw(db, by=world.people["cora"], batch="first", from_="ruth", now=NOW)
    with pytest.raises(Refused, match="unassigned or reassigned"):
        save_verdict(world, make_acceptance(world, question=1))


def test_verdict_in_a_closed_batch_is_refused(world):
    close_batch(world.engine, world.batch)
    with pytest.raises(Refused, match="batch first is closed"):
        save_verdict(world, make_acceptance(world, question=1))


def test_repeated_verdict_in_a_closed_batch_returns_the_saved_verdict(world):
    first = save_verdict(world, make_acceptance(world, question=1))
    close_batch(world.engine, world.batch)
    assert save_verdict(world, make_acceptance(world, question=1)) == first


def test_incomplete_acceptance_names_what_is_missing(world):
    with pytest.raises(Refused, match="Not judged yet: image alignment, your own difficulty"):
        save_verdict(
            world,
            make_acceptance(
                world,
                question=1,
                ratings=Ratings(clinical_quality=4, explanation_clarity=4, factual_correctness=4),
                difficulty=None,
            ),
        )


def test_clarity_is_not_required_without_an_explanation(world):
    with world.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE question SET explanation = ' '")
    ratings_without_clarity = Ratings(clinical_quality=4, factual_correctness=4, image_alignment=4)
    save_verdict(world, make_acceptance(world, question=1, ratings=ratings_without_clarity))
    assert load_verdict(world).opinion.ratings == ratings_without_clarity


def test_a_rejection_needs_only_the_kind_of_error(world):
    save_verdict(
        world, make_rejection(world, question=1, ratings=Ratings(), difficulty=None, cognitive_depth=None)
    )
    assert load_verdict(world).opinion.ratings == Ratings()


def test_image_alignment_batch_requires_that_rating_only(engine):
    world = make_world_with_settings(engine, parts=FormScope.IMAGE_ALIGNMENT)
    not_judged = {"domain_specific": None, "cognitive_depth": None, "difficulty": None}
    with pytest.raises(Refused, match="Not judged yet: image alignment"):
        save_verdict(world, make_acceptance(world, question=1, ratings=Ratings(), **not_judged))
    save_verdict(world, make_acceptance(world, question=1, ratings=Ratings(image_alignment=2), **not_judged))


def test_key_batch_requires_the_decision_only(engine):
    world = make_world_with_settings(engine, parts=FormScope.KEY)
    save_verdict(
        world,
        make_acceptance(
            world,
            question=1,
            ratings=Ratings(),
            domain_specific=None,
            cognitive_depth=None,
            difficulty=None,
        ),
    )
    assert load_verdict(world).opinion.ratings == Ratings()


def test_key_batch_allows_corrections_of_options_and_key_only(engine):
    world = make_world_with_settings(engine, parts=FormScope.KEY)
    invalid_verdict = make_acceptance(
        world, question=1, decision=Decision.REVISE, correction=Correction(stem="Another stem?", answer=(0,))
    )
    with pytest.raises(Refused, match="requests the answer key only; stem cannot be corrected"):
        save_verdict(world, invalid_verdict)
    save_verdict(
        world,
        make_acceptance(world, question=1, decision=Decision.REVISE, correction=Correction(answer=(0,))),
    )


def test_correction_equal_to_the_question_is_refused(world):
    unchanged = make_acceptance(
        world, question=1, decision=Decision.REVISE, correction=Correction(answer=(1,))
    )
    with pytest.raises(InvalidValue, match="nothing was corrected"):
        save_verdict(world, unchanged)


def test_only_changed_fields_of_a_correction_are_saved(world):
    correction = Correction(answer=(2,), options=("Nodule", "Effusion", "Pneumothorax"))
    save_verdict(world, make_acceptance(world, question=1, decision=Decision.REVISE, correction=correction))
    assert load_verdict(world).opinion.correction == Correction(answer=(2,))


def test_a_corrected_key_must_be_an_option(world):
    invalid_verdict = make_acceptance(
        world, question=1, decision=Decision.REVISE, correction=Correction(answer=(3,))
    )
    with pytest.raises(InvalidValue, match="is not an option"):
        save_verdict(world, invalid_verdict)


@pytest.mark.parametrize(
    ("radiograph", "x_max", "reason"),
    [
        ("pa", 2501, "is outside radiograph pa, which is 2500 x 3000"),
        ("ap", 20, "does not belong to this exam"),
    ],
)
def test_corrected_box_must_lie_on_a_radiograph_of_the_exam(world, radiograph, x_max, reason):
    box = LabelledBox(radiograph=radiograph, label="nodule", box=Box(x_min=0, y_min=0, x_max=x_max, y_max=9))
    invalid_verdict = make_acceptance(
        world, question=1, decision=Decision.REVISE, correction=Correction(boxes=(box,))
    )
    with pytest.raises(InvalidValue, match=reason):
        save_verdict(world, invalid_verdict)


def test_a_refused_verdict_leaves_the_question_open(world):
    with pytest.raises(Refused):
        save_verdict(world, make_acceptance(world, question=1, difficulty=None))
    assert (load_assignment_state(world), load_verdict(world)) == (AssignmentState.OPEN, None)
