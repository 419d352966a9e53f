"""Rates from draws with unequal probabilities: Horvitz-Thompson, prediction-powered, and repeated looks."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from measures.weighted_rates import Prediction, level_for_every_look, weighted_rate

GOLDEN = Path(__file__).parents[1] / "golden" / "statistics" / "prediction_powered.json"
RARE = 1e-9  # a probability so low that the population counts as infinite


@pytest.mark.parametrize(("hits", "n"), [(0, 30), (1, 30), (7, 50), (50, 50)])
def test_with_equal_weights_the_interval_is_clopper_and_pearsons(hits, n):
    result = weighted_rate(np.arange(n) < hits, np.full(n, RARE), np.arange(n))
    expected = binomtest(hits, n).proportion_ci(method="exact")
    assert (result.estimate, result.low, result.high) == pytest.approx(
        (hits / n, expected.low, expected.high), abs=1e-7
    )


def test_each_question_counts_by_its_inverse_probability():
    # 1/.5 of 1/.5 + 1/.25 + 1/.25
    result = weighted_rate(np.array([True, False, False]), np.array([0.5, 0.25, 0.25]), np.arange(3))
    assert result.estimate == pytest.approx(2 / 10)


def test_questions_drawn_with_certainty_leave_no_uncertainty():
    result = weighted_rate(np.array([True, False, False, True]), np.ones(4), np.arange(4))
    assert (result.low, result.estimate, result.high, result.se) == (0.5, 0.5, 0.5, 0)


def test_equal_questions_of_an_exam_count_as_one():
    hits, exams = np.repeat(np.arange(25) < 5, 4), np.repeat(np.arange(25), 4)
    clustered = weighted_rate(hits, np.full(100, RARE), exams)
    single = weighted_rate(np.arange(25) < 5, np.full(25, RARE), np.arange(25))
    assert (clustered.low, clustered.high) == pytest.approx((single.low, single.high), abs=1e-7)


def test_without_judged_questions_there_is_no_rate():
    assert weighted_rate(np.zeros(0, bool), np.zeros(0), np.zeros(0, int)).estimate is None


@pytest.mark.parametrize("case", [0, 1], ids=["equal weights", "weighted"])
def test_the_prediction_powered_estimate_equals_the_reference_implementation(case):
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    golden |= golden["cases"][case]
    hits = np.array(golden["hits"], dtype=bool)
    predicted = np.array(golden["predicted"])
    result = weighted_rate(
        hits,
        RARE / np.array(golden["weights"]),
        np.arange(len(hits)),
        prediction=Prediction(values=predicted, mean=golden["mean_prediction"]),
    )
    assert result.tuning == pytest.approx(golden["tuning"], rel=1e-3)
    assert result.estimate == pytest.approx(golden["estimate"], rel=1e-3)
    assert result.se == pytest.approx(golden["se"], rel=0.02)


def test_a_good_prediction_narrows_the_interval_and_a_useless_one_does_not_widen_it():
    rng = np.random.default_rng(5)
    hits = rng.random(400) < 0.2
    exams, probabilities = np.arange(400), np.full(400, RARE)
    plain = weighted_rate(hits, probabilities, exams)
    good = weighted_rate(
        hits, probabilities, exams, prediction=Prediction(values=np.where(hits, 0.8, 0.1), mean=0.24)
    )
    useless = weighted_rate(
        hits, probabilities, exams, prediction=Prediction(values=rng.random(400), mean=0.5)
    )
    assert good.effective_size > 5 * plain.effective_size
    assert useless.high - useless.low < 1.03 * (plain.high - plain.low)


def test_a_prediction_gets_no_weight_if_there_are_few_errors():
    hits = np.arange(100) < 4
    prediction = Prediction(values=hits.astype(float), mean=0.04)
    assert weighted_rate(hits, np.full(100, RARE), np.arange(100), prediction=prediction).tuning == 0


def test_the_level_of_every_look_follows_the_published_boundary():
    # rho^2 by eq. 9 of the source for alpha = .05 and t = 400, then the boundary of its eq. 11
    rho = (5.9915 + math.log(6.9915)) / 400
    boundary = math.sqrt((400 * rho + 1) / (400 * rho) * (math.log(400 * rho + 1) + 5.9915))
    level = level_for_every_look(400, planned=400)
    assert level == pytest.approx(math.erf(boundary / math.sqrt(2)), abs=1e-6)
    assert level_for_every_look(40, planned=400) > level


def test_one_hit_of_small_weight_does_not_increase_the_effective_size():
    probabilities = np.where(np.arange(60) < 30, 0.02, 0.001)
    hits = np.arange(60) == 0  # one hit, in a question that stands for few
    weights = 1 / probabilities
    assert weighted_rate(hits, probabilities, np.arange(60)).effective_size == pytest.approx(
        weights.sum() ** 2 / (weights**2).sum()
    )
