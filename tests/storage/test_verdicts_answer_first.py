"""Own answers before the key, image alignment before the report. On both databases."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from domain.batches import BatchSettings, Mode
from domain.errors import InvalidValue, Refused, StaleRevision
from domain.ratings import Ratings
from domain.verdicts import Decision, OwnAnswer
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth", "remo"])


def make_world_with_settings(engine: Engine, **settings) -> World:
    return make_world(engine, assigned_to=["ruth"], settings=BatchSettings(**settings))


def save_own_answer(world: World, answer=(1,), confidence=4, question=1, now=NOW):
    with unit_of_work(world.engine) as db:
        return review.save_own_answer(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=question,
            answer=answer,
            confidence=confidence,
            now=now,
        )


@pytest.fixture
def answer_first_world(engine: Engine) -> World:
    return make_world_with_settings(engine, mode=Mode.ANSWER_FIRST, show_report=True)


def test_verdict_before_the_own_answer_is_refused(answer_first_world):
    with pytest.raises(Refused, match="your own answer first"):
        save_verdict(answer_first_world, make_acceptance(answer_first_world, question=1))


def test_own_answer_and_verdict_are_both_saved(answer_first_world):
    save_own_answer(answer_first_world)
    save_verdict(answer_first_world, make_acceptance(answer_first_world, question=1))
    with read_only_session(answer_first_world.engine) as db:
        sheet = review.load_sheet(
            db,
            person=answer_first_world.people["ruth"],
            batch_id=answer_first_world.batch.id,
            question=1,
            now=NOW,
        )
    assert sheet.own_answer == OwnAnswer(answer=(1,), confidence=4, committed_at=NOW)
    assert sheet.last_verdict.decision is Decision.ACCEPT


def test_repeated_own_answer_returns_the_first_answer(answer_first_world):
    first = save_own_answer(answer_first_world)
    assert save_own_answer(answer_first_world, now=NOW + timedelta(seconds=1)) == first


def test_the_error_for_a_different_own_answer_names_both_answers(answer_first_world):
    save_own_answer(answer_first_world)
    with pytest.raises(StaleRevision, match=r"B\. Effusion, confidence 4 .*C\. Pneumothorax, confidence 5"):
        save_own_answer(answer_first_world, answer=(2,), confidence=5)


def test_cannot_determine_is_an_own_answer(answer_first_world):
    assert save_own_answer(answer_first_world, answer=None).answer is None


def test_own_answer_outside_the_options_is_refused(answer_first_world):
    with pytest.raises(InvalidValue, match="is not an option"):
        save_own_answer(answer_first_world, answer=(7,))


def test_own_answer_is_refused_when_the_key_is_shown_from_the_start(world):
    with pytest.raises(Refused, match="shows the answer key from the start"):
        save_own_answer(world)


def open_report(world: World, rating=3, question=1):
    with unit_of_work(world.engine) as db:
        return review.open_report(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=question,
            image_alignment=rating,
            now=NOW,
        )


def test_report_opens_after_image_alignment_is_rated(engine):
    world = make_world_with_settings(engine, show_report=True)
    assert "right pleural effusion" in open_report(world)


def test_verdict_keeps_the_rating_from_before_the_report(engine):
    world = make_world_with_settings(engine, show_report=True)
    open_report(world, rating=3)
    with pytest.raises(Refused, match="rated 3 before the report was opened"):
        save_verdict(world, make_acceptance(world, question=1))  # make_acceptance rates it 4
    ratings = Ratings(clinical_quality=4, explanation_clarity=4, factual_correctness=4, image_alignment=3)
    save_verdict(world, make_acceptance(world, question=1, ratings=ratings))


def test_later_verdict_keeps_the_rating_from_before_the_report(engine):
    world = make_world_with_settings(engine, show_report=True)
    save_verdict(world, make_acceptance(world, question=1))
    open_report(world, rating=4)
    lower_ratings = Ratings(
        clinical_quality=4, explanation_clarity=4, factual_correctness=4, image_alignment=1
    )
    with pytest.raises(Refused, match="rated 4 before"):
        save_verdict(world, make_acceptance(world, question=1, revision=2, ratings=lower_ratings))


def test_opening_the_report_again_does_not_change_the_rating(engine):
    world = make_world_with_settings(engine, show_report=True)
    open_report(world, rating=3)
    open_report(world, rating=5)
    with read_only_session(engine) as db:
        sheet = review.load_sheet(db, person=world.people["ruth"], batch_id=world.batch.id, now=NOW)
    assert (sheet.fixed_alignment, sheet.report_open) == (3, True)


def test_report_cannot_be_opened_in_a_batch_without_reports(world):
    with pytest.raises(Refused, match="does not show reports"):
        open_report(world)


def test_report_cannot_be_opened_before_the_own_answer(answer_first_world):
    with pytest.raises(Refused, match="your own answer first"):
        open_report(answer_first_world)


@pytest.mark.parametrize("rating", [0, 6, True, None])
def test_report_needs_a_rating_of_1_to_5(engine, rating):
    world = make_world_with_settings(engine, show_report=True)
    with pytest.raises(InvalidValue, match="rate it 1 to 5"):
        open_report(world, rating=rating)
