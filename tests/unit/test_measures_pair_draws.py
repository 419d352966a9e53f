"""Draws of kappa and AC1 of pairs of raters: shapes, seeds, and equality with a table for each draw."""

from __future__ import annotations

import numpy as np
import pytest

from measures.pair_draws import PairDraws, ac1_of_draws, kappas_of_draws
from measures.pair_sums import PairSums
from measures.posterior import draw_prior, draw_weights

QUESTIONS, RATERS, DRAWS = 30, 4, 7
LINEAR = 1 - np.abs(np.subtract.outer(np.arange(3), np.arange(3))) / 2


def make_answers(k=3, *, missing=True):
    """Answers of four raters, shape (questions, raters); the last two raters lack some answers."""
    random = np.random.default_rng(5)
    answers = random.integers(k, size=(QUESTIONS, RATERS))
    answers[:, 1] = np.where(random.random(QUESTIONS) < 0.7, answers[:, 0], answers[:, 1])
    if missing:
        answers[:4, 2] = -1
        answers[2:9, 3] = -1
    return answers


def make_draws(answers, *, k=3, draws=DRAWS, seed=11):
    weights = draw_weights(QUESTIONS, draws, seed)
    return PairDraws(PairSums(answers, weights, k=k), draws=draws, seed=seed)


def draw_pair(pair_draws, answers, pair, weights, *, effect=1.0, with_disagreement=True, categories=None):
    agreements = np.zeros((1, QUESTIONS))
    answered_by_both = (answers[:, pair[0]] >= 0) & (answers[:, pair[1]] >= 0)
    agreements[0, answered_by_both] = weights[
        answers[answered_by_both, pair[0]], answers[answered_by_both, pair[1]]
    ]
    return pair_draws.draw_table(
        pair, np.arange(len(weights)) if categories is None else categories, weights,
        pair_draws.sum_agreements(agreements)[0], effect=effect, with_disagreement=with_disagreement,
    )  # fmt: skip


def draw_tables_plainly(answers, pair, weights, *, effect=1.0, with_disagreement=True, seed=11):
    """For each draw, agreement and both raters' shares: questions one by one, with their random weights."""
    k = len(weights)
    question_weights = draw_weights(QUESTIONS, DRAWS, seed)
    prior = draw_prior(weights, draws=DRAWS, seed=seed, with_disagreement=with_disagreement)
    observed, first, second = np.zeros(DRAWS), np.zeros((k, DRAWS)), np.zeros((k, DRAWS))
    for draw in range(DRAWS):
        for question in range(QUESTIONS):
            a, b = answers[question, list(pair)]
            if a >= 0 and b >= 0:
                weight = question_weights[question, draw]
                observed[draw] += weight * weights[a, b]
                first[a, draw] += weight
                second[b, draw] += weight
        observed[draw] += effect * prior.observed[draw]
        first[:, draw] += effect * prior.first[:, draw]
        second[:, draw] += effect * prior.second[:, draw]
        total = first[:, draw].sum()
        observed[draw] /= total
        first[:, draw] /= total
        second[:, draw] /= total
    return observed, first, second


PAIRS = [(a, b) for a in range(RATERS) for b in range(a + 1, RATERS)]


@pytest.mark.parametrize("weights", [np.eye(3), LINEAR], ids=["nominal", "linear"])
@pytest.mark.parametrize("effect", [1.0, 2.5])
@pytest.mark.parametrize("with_disagreement", [True, False])
def test_draws_of_all_pairs_equal_sums_over_single_questions(weights, effect, with_disagreement):
    answers = make_answers()
    pair_draws = make_draws(answers)
    for pair in PAIRS:  # one object, as in a report: the pairs share its cache
        drawn = draw_pair(
            pair_draws, answers, pair, weights, effect=effect, with_disagreement=with_disagreement
        )
        plain = draw_tables_plainly(
            answers, pair, weights, effect=effect, with_disagreement=with_disagreement
        )
        for values, expected in zip((drawn.observed, drawn.first, drawn.second), plain, strict=True):
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_shapes_are_categories_by_draws():
    answers = make_answers()
    drawn = draw_pair(make_draws(answers), answers, (0, 1), np.eye(3))
    assert drawn.observed.shape == (DRAWS,)
    assert drawn.first.shape == drawn.second.shape == (3, DRAWS)
    assert kappas_of_draws(drawn).shape == ac1_of_draws(drawn).shape == (DRAWS,)
    np.testing.assert_allclose(drawn.first.sum(axis=0), 1)
    np.testing.assert_allclose(drawn.second.sum(axis=0), 1)


def test_kappa_and_ac1_of_a_draw_equal_those_computed_from_its_table():
    answers = make_answers()
    for weights in (np.eye(3), LINEAR):
        drawn = draw_pair(make_draws(answers), answers, (0, 1), weights)
        for draw in range(DRAWS):
            first, second, observed = drawn.first[:, draw], drawn.second[:, draw], drawn.observed[draw]
            chance = first @ weights @ second
            assert kappas_of_draws(drawn)[draw] == pytest.approx(
                (observed - chance) / (1 - chance), abs=1e-12
            )
            overall = (first + second) / 2
            chance = weights.sum() / (3 * 2) * (overall * (1 - overall)).sum()
            assert ac1_of_draws(drawn)[draw] == pytest.approx((observed - chance) / (1 - chance), abs=1e-12)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_draws():
    answers = make_answers()
    first, repeated, with_other_seed = (
        kappas_of_draws(draw_pair(make_draws(answers, seed=seed), answers, (0, 1), np.eye(3)))
        for seed in (11, 11, 12)
    )
    assert first.tobytes() == repeated.tobytes()
    assert not np.isclose(first, with_other_seed).any()


def test_the_order_of_pairs_changes_nothing():
    answers = make_answers()
    one_by_one = {
        pair: kappas_of_draws(draw_pair(make_draws(answers), answers, pair, np.eye(3))) for pair in PAIRS
    }
    shared = make_draws(answers)
    for pair in [*reversed(PAIRS), *PAIRS]:
        assert (
            kappas_of_draws(draw_pair(shared, answers, pair, np.eye(3))).tobytes()
            == one_by_one[pair].tobytes()
        )


def test_results_are_the_same_without_a_cache(monkeypatch):
    answers = make_answers()
    expected = [kappas_of_draws(draw_pair(make_draws(answers), answers, pair, np.eye(3))) for pair in PAIRS]
    monkeypatch.setattr("measures.pair_draws._MAX_KEPT", 0)
    monkeypatch.setattr("measures.pair_sums._MAX_KEPT", 0)
    shared = make_draws(answers)
    for pair, kappas in zip(PAIRS, expected, strict=True):
        assert kappas_of_draws(draw_pair(shared, answers, pair, np.eye(3))).tobytes() == kappas.tobytes()


def test_categories_that_no_rater_of_the_matrix_used_have_the_shares_of_the_prior():
    answers = make_answers(2, missing=False)
    weights = np.eye(3)
    drawn = draw_pair(make_draws(answers), answers, (0, 1), weights)
    observed, first, second = draw_tables_plainly(answers, (0, 1), weights)
    np.testing.assert_allclose(drawn.observed, observed, rtol=0, atol=1e-12)
    np.testing.assert_allclose(drawn.first, first, rtol=0, atol=1e-12)
    np.testing.assert_allclose(drawn.second, second, rtol=0, atol=1e-12)
    assert (drawn.first[2] > 0).all()


def test_a_subset_of_the_categories_is_drawn_with_a_prior_of_its_own():
    answers = np.where(make_answers(missing=False) == 1, 2, make_answers(missing=False))  # 0 and 2 are used
    pair_draws = make_draws(answers)
    nominal_weights = np.eye(3)
    drawn = pair_draws.draw_table(
        (0, 1), np.array([0, 2]), np.eye(2),
        pair_draws.sum_agreements(nominal_weights[answers[:, 0], answers[:, 1]][None])[0],
        effect=1.0, with_disagreement=True,
    )  # fmt: skip
    renamed = np.where(answers == 2, 1, 0)
    observed, first, second = draw_tables_plainly(renamed, (0, 1), np.eye(2))
    np.testing.assert_allclose(drawn.observed, observed, rtol=0, atol=1e-12)
    np.testing.assert_allclose(drawn.first, first, rtol=0, atol=1e-12)
    np.testing.assert_allclose(drawn.second, second, rtol=0, atol=1e-12)
