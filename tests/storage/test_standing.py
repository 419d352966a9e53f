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
from tests.storage.judgements import accept, give, reject
from tests.storage.worlds import NOW, World, make_world


def judged(engine) -> World:
    """Ruth rejects question 2, accepts and then revises 1, and accepts 3; Remo rejects 1."""
    world = make_world(engine, assigned_to=["ruth", "remo"])
    give(world, reject(world, question=2, difficulty=None, ratings=Ratings(image_alignment=5)))
    give(world, accept(world, question=1, seconds_looking=10.0))
    give(
        world,
        accept(
            world, question=1, revision=2, decision=Decision.REVISE, correction=Correction(answer=(0,)),
            errors=frozenset({ErrorKind.WRONG_KEY}), seconds_looking=99.0,
        ),
    )  # fmt: skip
    give(world, reject(world, question=1, person="remo"), "remo")
    give(world, accept(world, question=3))
    return world


def test_the_highest_revision_stands_and_the_time_is_that_of_the_first(engine):
    world = judged(engine)
    with read_only_session(engine) as db:
        found = load_latest_verdicts(db, batch_ids=[world.batch.id])
    ruth, remo = world.people["ruth"].id, world.people["remo"].id
    rows = list(zip(found.questions.tolist(), found.people.tolist(), strict=True))
    assert rows == sorted([(1, ruth), (1, remo), (2, ruth), (3, ruth)])
    at = rows.index((1, ruth))
    assert DECISIONS[found.decisions[at]] is Decision.REVISE
    assert found.error_sets[found.errors[at]] == {ErrorKind.WRONG_KEY}
    assert found.changes_key.tolist() == [place == at for place in range(4)]
    first, last = (np.datetime64((NOW + timedelta(minutes=each)).replace(tzinfo=None)) for each in (1, 2))
    assert (found.first_given_at[at], found.given_at[at], found.first_seconds[at]) == (first, last, 10.0)


def test_what_was_not_given_is_told_from_what_was(engine):
    world = judged(engine)
    with read_only_session(engine) as db:
        found = load_latest_verdicts(db, batch_ids=[world.batch.id], ratings=True)
    assert found.tiers[-2] == -1
    assert TIERS[found.tiers[-1]] is Difficulty.MEDIUM
    assert found.ratings[-2].tolist() == [5 if name == "image_alignment" else 0 for name in RATING_IDS]
    assert found.exams.shape == found.questions.shape


def test_a_find_is_any_verdict_but_a_plain_acceptance(engine):
    world = judged(engine)
    with read_only_session(engine) as db:
        assert load_questions_with_errors(db, batch_id=world.batch.id) == {1, 2}


def test_without_a_verdict_every_column_is_empty(engine):
    world = make_world(engine, assigned_to=["ruth"])
    with read_only_session(engine) as db:
        found = load_latest_verdicts(db, batch_ids=[world.batch.id], ratings=True)
        assert load_questions_with_errors(db, batch_id=world.batch.id) == set()
    assert [len(each) for each in (found.questions, found.exams, found.given_at, found.ratings)] == [0] * 4
    assert found.error_sets == ()
