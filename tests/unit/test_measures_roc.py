"""AUC: clusters, missing scores, U-statistics, and the comparison with a model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from measures.roc import auc_estimate, compare_auc_of_arms, compare_auc_with_model, compute_aucs

TRUTH = np.repeat([1, 0], [20, 30])


def simulate_scores(*, readers=3, seed=1, truth=TRUTH, scale=5):
    rng = np.random.default_rng(seed)
    easiness = rng.standard_normal((len(truth), 1))
    return np.round(scale * (truth[:, None] + 0.7 * easiness + rng.standard_normal((len(truth), readers))))


def list_comparisons(truth, scores):
    """1, 1/2 or 0 for each positive case, negative case and reader."""
    cells = product(np.flatnonzero(truth == 1), np.flatnonzero(truth == 0), range(scores.shape[1]))
    return {
        (i, j, r): (np.sign(scores[i, r] - scores[j, r]) + 1) / 2
        for i, j, r in cells
        if not np.isnan(scores[i, r] + scores[j, r])
    }


def covariance_by_brute_force(truth, first, second):
    """Unbiased estimate of the covariance of two mean AUCs, by all pairs of comparisons."""
    a, b = list_comparisons(truth, first), list_comparisons(truth, second)
    products_of_disjoint_comparisons = [
        a[p] * b[q] for p in a for q in b if all(x != y for x, y in zip(p, q, strict=True))
    ]
    return np.mean(list(a.values())) * np.mean(list(b.values())) - np.mean(products_of_disjoint_comparisons)


def test_the_u_statistic_of_the_auc_equals_a_brute_force_calculation():
    truth = np.array([1, 1, 1, 0, 0, 0, 0])
    for seed in range(20):
        first, second = (simulate_scores(truth=truth, seed=seed + 100 * arm) for arm in (0, 1))
        first[0, 0] = second[5, 2] = first[4, 1] = np.nan
        expected = sum(
            sign * covariance_by_brute_force(truth, x, y)
            for x, y, sign in ((first, first, 1), (second, second, 1), (first, second, -2))
        )
        result = next(row for row in compare_auc_of_arms(truth, first, second) if row.method == "U-statistic")
        if expected > 0:
            assert result.se**2 == pytest.approx(expected)
            return
    pytest.fail("no simulated table has a positive variance")


def test_the_delong_standard_error_equals_the_formula():
    scores = simulate_scores(readers=1)
    comparisons = (np.sign(scores[:20, 0][:, None] - scores[20:, 0][None, :]) + 1) / 2
    by_positive, by_negative = comparisons.mean(axis=1), comparisons.mean(axis=0)
    expected = by_positive.var(ddof=1) / 20 + by_negative.var(ddof=1) / 30
    estimate = auc_estimate(compute_aucs(TRUTH, scores), 0, n=50)
    assert (estimate.value, estimate.se**2) == pytest.approx((comparisons.mean(), expected))
    assert 0 < estimate.low < estimate.value < estimate.high < 1


def test_cases_that_occur_twice_in_a_cluster_add_no_evidence():
    scores = simulate_scores()
    single = compute_aucs(TRUTH, scores)
    doubled = compute_aucs(
        np.repeat(TRUTH, 2), np.repeat(scores, 2, axis=0), clusters=np.repeat(np.arange(50), 2)
    )
    assert doubled.values == pytest.approx(single.values)
    assert doubled.covariance == pytest.approx(single.covariance)


def test_completely_separated_scores_have_no_interval():
    estimate = auc_estimate(compute_aucs(np.array([1, 0]), np.array([[2.0], [1.0]])), 0, n=2)
    assert (estimate.value, estimate.low) == (1.0, None)
    assert "separate" in estimate.note


def test_without_negative_cases_the_auc_is_not_defined():
    estimate = auc_estimate(compute_aucs(np.array([1, 1]), np.array([[2.0], [1.0]])), 0, n=2)
    assert (estimate.value, estimate.note) == (None, "not defined: no positive or no negative case")


def test_a_model_is_compared_like_an_arm_with_the_same_scores_for_all_readers():
    readers, model = simulate_scores(), simulate_scores(readers=1, seed=2)
    result = compare_auc_with_model(TRUTH, readers, model[:, 0])
    arms = compare_auc_of_arms(TRUTH, readers, np.repeat(model, 3, axis=1))
    assert (result.difference, result.se, result.p) == (arms[0].difference, arms[0].se, arms[0].p)
    fixed = compare_auc_with_model(TRUTH, readers, model[:, 0], random_readers=False)
    assert not fixed.random_readers
    assert fixed.p == arms[2].p


def test_partly_read_cases_use_u_statistics_unless_they_are_clustered():
    readers, model = simulate_scores(), simulate_scores(readers=1, seed=2)[:, 0]
    readers[:10, 0] = np.nan
    result = compare_auc_with_model(TRUTH, readers, model)
    assert (result.method, result.readers, result.cases) == ("U-statistic", 3, 50)
    clusters = np.repeat(np.arange(25), 2)
    assert compare_auc_with_model(TRUTH, readers, model, clusters=clusters).method.startswith("Obuchowski")


def test_without_common_scores_the_comparison_is_not_defined():
    result = compare_auc_with_model(TRUTH, simulate_scores(), np.full(50, np.nan))
    assert (result.readers, result.difference) == (0, None)
    assert result.note.startswith("not defined")
