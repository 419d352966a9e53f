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
from tests.storage.judgements import accept, give
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth", "remo"])


def with_settings(engine: Engine, **settings) -> World:
    return make_world(engine, assigned_to=["ruth"], settings=BatchSettings(**settings))


def commit(world: World, answer=(1,), confidence=4, question=1, now=NOW):
    with unit_of_work(world.engine) as db:
        return review.save_own_answer(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=question,
            answer=answer,
            confidence=confidence,
            now=now,
        )


@pytest.fixture
def answer_first(engine: Engine) -> World:
    return with_settings(engine, mode=Mode.ANSWER_FIRST, show_report=True)


def test_a_verdict_before_the_own_answer_is_refused(answer_first):
    with pytest.raises(Refused, match="your own answer first"):
        give(answer_first, accept(answer_first, question=1))


def test_own_answer_and_verdict_are_both_kept(answer_first):
    commit(answer_first)
    give(answer_first, accept(answer_first, question=1))
    with read_only_session(answer_first.engine) as db:
        sheet = review.load_sheet(
            db, person=answer_first.people["ruth"], batch_id=answer_first.batch.id, question=1, now=NOW
        )
    assert sheet.own_answer == OwnAnswer(answer=(1,), confidence=4, committed_at=NOW)
    assert sheet.last_verdict.decision is Decision.ACCEPT


def test_the_same_own_answer_again_gives_back_the_first(answer_first):
    first = commit(answer_first)
    assert commit(answer_first, now=NOW + timedelta(seconds=1)) == first


def test_another_own_answer_is_refused_and_both_are_named(answer_first):
    commit(answer_first)
    with pytest.raises(StaleRevision, match=r"B\. Effusion, confidence 4 .*C\. Pneumothorax, confidence 5"):
        commit(answer_first, answer=(2,), confidence=5)


def test_cannot_determine_is_an_own_answer(answer_first):
    assert commit(answer_first, answer=None).answer is None


def test_an_own_answer_that_is_no_option_is_refused(answer_first):
    with pytest.raises(InvalidValue, match="is not an option"):
        commit(answer_first, answer=(7,))


def test_where_the_key_is_shown_from_the_start_no_own_answer_is_taken(world):
    with pytest.raises(Refused, match="shows the answer key from the start"):
        commit(world)


def open_report(world: World, rating=3, question=1):
    with unit_of_work(world.engine) as db:
        return review.open_report(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=question,
            image_alignment=rating,
            now=NOW,
        )


def test_the_report_opens_once_image_alignment_is_rated(engine):
    world = with_settings(engine, show_report=True)
    assert "right pleural effusion" in open_report(world)


def test_the_rating_stays_what_it_was_before_the_report(engine):
    world = with_settings(engine, show_report=True)
    open_report(world, rating=3)
    with pytest.raises(Refused, match="rated 3 before the report was opened"):
        give(world, accept(world, question=1))  # accept() rates it 4
    rated = Ratings(clinical_quality=4, explanation_clarity=4, factual_correctness=4, image_alignment=3)
    give(world, accept(world, question=1, ratings=rated))


def test_the_rating_stays_for_a_verdict_that_supersedes_too(engine):
    world = with_settings(engine, show_report=True)
    give(world, accept(world, question=1))
    open_report(world, rating=4)
    low = Ratings(clinical_quality=4, explanation_clarity=4, factual_correctness=4, image_alignment=1)
    with pytest.raises(Refused, match="rated 4 before"):
        give(world, accept(world, question=1, revision=2, ratings=low))


def test_opening_the_report_again_does_not_change_the_rating(engine):
    world = with_settings(engine, show_report=True)
    open_report(world, rating=3)
    open_report(world, rating=5)
    with read_only_session(engine) as db:
        sheet = review.load_sheet(db, person=world.people["ruth"], batch_id=world.batch.id, now=NOW)
    assert (sheet.fixed_alignment, sheet.report_open) == (3, True)


def test_a_batch_that_shows_no_report_opens_none(world):
    with pytest.raises(Refused, match="does not show reports"):
        open_report(world)


def test_before_the_own_answer_no_report_opens(answer_first):
    with pytest.raises(Refused, match="your own answer first"):
        open_report(answer_first)


@pytest.mark.parametrize("rating", [0, 6, True, None])
def test_a_rating_outside_1_to_5_opens_no_report(engine, rating):
    world = with_settings(engine, show_report=True)
    with pytest.raises(InvalidValue, match="rate it 1 to 5"):
        open_report(world, rating=rating)
