"""Weighted rates of a subgroup of a sample, against other implementations and by simulation."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from measures.subgroups import subgroup_rate


def compute_rate(hits, weights=None, clusters=None, in_subgroup=None):
    hits = np.array(hits, dtype=bool)
    n = len(hits)
    return subgroup_rate(
        hits,
        np.ones(n, dtype=bool) if in_subgroup is None else np.array(in_subgroup, dtype=bool),
        np.ones(n) if weights is None else np.array(weights, dtype=float),
        np.arange(n) if clusters is None else np.array(clusters),
    )


def test_equal_weights_give_clopper_and_pearsons_interval_at_n_minus_1():
    """The linearised variance of 7 of 20 is p (1 - p) / (n - 1), so the effective size is 19."""
    result = compute_rate([True] * 7 + [False] * 13)
    assert (result.n, result.hits, result.estimate) == (20, 7, 0.35)
    assert (result.low, result.high) == pytest.approx(proportion_confint(0.35 * 19, 19, method="beta"))


@pytest.mark.parametrize("hits", [0, 20])
def test_if_all_or_none_are_hits_the_interval_uses_n_questions(hits):
    result = compute_rate([True] * hits + [False] * (20 - hits))
    expected = proportion_confint(hits, 20, method="beta")
    assert (result.low, result.high) == pytest.approx(expected, abs=1e-9)


def test_rates_are_weighted():
    """Of weights 1, 1, 3, 1 the hits have 3 of 6."""
    result = compute_rate([True, True, False, True], weights=[1, 1, 3, 1])
    assert result.estimate == 0.5


def test_only_questions_in_the_subgroup_count():
    assert compute_rate([True, False, True, True], in_subgroup=[True, True, False, False]).estimate == 0.5
    empty = compute_rate([True, False], in_subgroup=[False, False])
    assert (empty.n, empty.estimate, empty.low, empty.high) == (0, None, None, None)


def test_the_variance_equals_that_of_the_jackknife_over_exams():
    """An independent computation: leave out each exam, and recompute the ratio."""
    rng = np.random.default_rng(5)
    exams = np.repeat(np.arange(120), 3)
    hits = rng.random(360) < np.repeat(rng.beta(2, 3, 120), 3)
    weights = rng.choice([1.0, 2.0, 5.0], 360)
    result = subgroup_rate(hits, np.ones(360, dtype=bool), weights, exams)
    leave_one_out_rates = [
        weights[exams != exam] @ hits[exams != exam] / weights[exams != exam].sum() for exam in range(120)
    ]
    variance = 119 / 120 * np.sum((np.array(leave_one_out_rates) - np.mean(leave_one_out_rates)) ** 2)
    size = result.estimate * (1 - result.estimate) / variance
    low, high = proportion_confint(result.estimate * size, size, method="beta")
    assert (result.low, result.high) == pytest.approx((low, high), abs=0.005)


def test_questions_of_one_exam_count_as_one():
    single = compute_rate([True] * 10 + [False] * 10)
    tripled = compute_rate([True] * 30 + [False] * 30, clusters=[i // 3 for i in range(60)])
    assert tripled.high - tripled.low >= single.high - single.low - 1e-9


def test_the_interval_covers_at_least_as_often_as_stated():
    """400 samples of 60 questions with unequal weights; the true rate of hits is .2."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        weights = rng.choice([1.0, 4.0], 60)
        hits = rng.random(60) < 0.2
        result = subgroup_rate(hits, np.ones(60, dtype=bool), weights, np.arange(60))
        covered += result.low <= 0.2 <= result.high
    assert covered / 400 >= 0.94
