"""Strategies of drawing, compared by simulation on assumptions."""

from __future__ import annotations

import numpy as np
import pytest

from domain.errors import InvalidValue
from sampling.strategies import (
    ErrorAssumptions,
    fit_assumptions,
    recommend_strategy,
    simulate_strategies,
)

RISKS = np.repeat([0.0, 1.0], [900, 100])


def simulate(odds_ratio, *, rate=0.1, sizes=(100,), runs=40):
    return simulate_strategies(
        RISKS, ErrorAssumptions(rate=rate, odds_ratio=odds_ratio), sizes=sizes, runs=runs
    )


def test_a_uniform_draw_finds_the_assumed_rate_and_a_draw_by_risk_finds_more():
    points = {point.uniform_share: point for point in simulate(81.0)}
    assert points[1.0].errors.mean == pytest.approx(10, abs=2)
    assert points[0.2].errors.mean > 2 * points[1.0].errors.mean
    assert points[1.0].errors.low <= points[1.0].errors.mean <= points[1.0].errors.high


def test_predictions_narrow_the_interval_if_errors_follow_the_risk():
    [uniform] = [point for point in simulate(1000.0, sizes=(250,)) if point.uniform_share == 1]
    assert uniform.prediction_powered_half_width.mean < 0.9 * uniform.half_width.mean


def test_a_uniform_draw_is_recommended_if_errors_do_not_follow_the_risk():
    text = recommend_strategy(simulate(1.0))
    assert text.count("draw uniform") == 2


def test_a_draw_by_risk_is_recommended_to_find_errors_that_follow_the_risk():
    assert "to find errors, draw 20 % uniform, rest by risk" in recommend_strategy(simulate(100.0))


def test_draws_of_more_than_a_quarter_of_the_dataset_are_left_out():
    assert {point.n for point in simulate(2.0, sizes=(250, 251), runs=2)} == {250}
    assert recommend_strategy(simulate(2.0, sizes=(5000,))) == (
        "There are too few questions to compare strategies."
    )


def test_the_assumptions_of_a_simulated_sample_are_recovered():
    rng = np.random.default_rng(8)
    risks = rng.choice([0.0, 0.5, 1.0], 4000)
    hits = rng.random(4000) < 1 / (1 + np.exp(-(-3 + np.log(9) * risks)))
    fitted = fit_assumptions(hits, risks, np.ones(4000))
    assert fitted.rate == pytest.approx(hits.mean())
    assert fitted.odds_ratio == pytest.approx(9, rel=0.35)


def test_a_sample_without_an_error_gives_no_assumptions():
    assert fit_assumptions(np.zeros(20, dtype=bool), np.linspace(0, 1, 20), np.ones(20)) is None


@pytest.mark.parametrize("fields", [{"rate": 0.0}, {"rate": 1.0}, {"odds_ratio": 0.0}])
def test_impossible_assumptions_are_refused(fields):
    with pytest.raises(InvalidValue):
        ErrorAssumptions(**{"rate": 0.1, "odds_ratio": 2.0, **fields})
