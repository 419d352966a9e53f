"""The latest verdicts, read as columns from a real database."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from domain.corrections import Correction
from domain.ratings import RATING_IDS, Ratings
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty
from records.columns import DECISIONS, TIERS
from storage.review.latest_verdicts import load_latest_verdicts, load_questions_with_errors
from storage.unit_of_work import read_only_session
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, World, make_world


def make_judged_world(engine) -> World:
    """Ruth rejects question 2, accepts and then revises 1, and accepts 3; Remo rejects 1."""
    world = make_world(engine, assigned_to=["ruth", "remo"])
    save_verdict(
        world, make_rejection(world, question=2, difficulty=None, ratings=Ratings(image_alignment=5))
    )
    save_verdict(world, make_acceptance(world, question=1, seconds_looking=10.0))
    save_verdict(
        world,
        make_acceptance(
            world, question=1, revision=2, decision=Decision.REVISE, correction=Correction(answer=(0,)),
            errors=frozenset({ErrorKind.WRONG_KEY}), seconds_looking=99.0,
        ),
    )  # fmt: skip
    save_verdict(world, make_rejection(world, question=1, person="remo"), "remo")
    save_verdict(world, make_acceptance(world, question=3))
    return world


def test_latest_revision_counts_with_time_and_seconds_of_the_first_revision(engine):
    world = make_judged_world(engine)
    with read_only_session(engine) as db:
        verdicts = load_latest_verdicts(db, batch_ids=[world.batch.id])
    ruth, remo = world.people["ruth"].id, world.people["remo"].id
    rows = list(zip(verdicts.questions.tolist(), verdicts.people.tolist(), strict=True))
    assert rows == sorted([(1, ruth), (1, remo), (2, ruth), (3, ruth)])
    index = rows.index((1, ruth))
    assert DECISIONS[verdicts.decisions[index]] is Decision.REVISE
    assert verdicts.error_sets[verdicts.errors[index]] == {ErrorKind.WRONG_KEY}
    assert verdicts.changes_key.tolist() == [position == index for position in range(4)]
    first, last = (
        np.datetime64((NOW + timedelta(minutes=minutes)).replace(tzinfo=None)) for minutes in (1, 2)
    )
    assert (verdicts.first_given_at[index], verdicts.given_at[index], verdicts.first_seconds[index]) == (
        first,
        last,
        10.0,
    )


def test_missing_tiers_and_ratings_have_codes_of_their_own(engine):
    world = make_judged_world(engine)
    with read_only_session(engine) as db:
        verdicts = load_latest_verdicts(db, batch_ids=[world.batch.id], ratings=True)
    assert verdicts.tiers[-2] == -1
    assert TIERS[verdicts.tiers[-1]] is Difficulty.MEDIUM
    assert verdicts.ratings[-2].tolist() == [5 if name == "image_alignment" else 0 for name in RATING_IDS]
    assert verdicts.exams.shape == verdicts.questions.shape


def test_questions_with_errors_have_an_error_or_a_decision_other_than_accept(engine):
    world = make_judged_world(engine)
    with read_only_session(engine) as db:
        assert load_questions_with_errors(db, batch_id=world.batch.id) == {1, 2}


def test_columns_without_verdicts_are_empty(engine):
    world = make_world(engine, assigned_to=["ruth"])
    with read_only_session(engine) as db:
        verdicts = load_latest_verdicts(db, batch_ids=[world.batch.id], ratings=True)
        assert load_questions_with_errors(db, batch_id=world.batch.id) == set()
    assert [
        len(column) for column in (verdicts.questions, verdicts.exams, verdicts.given_at, verdicts.ratings)
    ] == [0] * 4
    assert verdicts.error_sets == ()
