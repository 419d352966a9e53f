"""Ranks of systems by a paired bootstrap of patients, against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from measures.paired import compare_paired
from measures.ranking import rank_systems, resample_scores


def draw_systems(accuracies, *, n=600, per_patient=3, seed=5):
    """Return which answers are correct, with an effect per patient, and the patient of each question."""
    random = np.random.default_rng(seed)
    patients = np.repeat(np.arange(n // per_patient), per_patient)
    effect = random.normal(0, 0.15, n // per_patient)[patients]
    correct = np.stack([random.random(n) < accuracy + effect for accuracy in accuracies], axis=1)
    return correct, patients


def test_the_standard_error_equals_that_of_scipys_bootstrap_of_patients():
    correct, patients = draw_systems([0.6])
    sums = np.bincount(patients, weights=correct[:, 0])
    reference = stats.bootstrap(
        (sums,), lambda values, axis: values.mean(axis=axis) / 3, n_resamples=4000, vectorized=True,
        rng=np.random.default_rng(1),
    ).standard_error  # fmt: skip
    standard_error = resample_scores(correct, clusters=patients, seed=2, resamples=4000)[:, 0].std(ddof=1)
    assert standard_error == pytest.approx(reference, rel=0.05)


def test_p_values_are_close_to_the_exact_test_by_patient():
    correct, patients = draw_systems([0.70, 0.62, 0.60])
    ranking = rank_systems(correct, clusters=patients, seed=1, resamples=4000)
    for pair in ranking.pairs:
        exact = compare_paired(correct[:, pair.a], correct[:, pair.b], clusters=patients)
        assert pair.difference == pytest.approx(exact.difference)
        assert pair.p == pytest.approx(exact.p_mid, abs=0.02)


def test_holm_multiplies_the_smallest_p_value_by_the_number_of_pairs():
    correct, patients = draw_systems([0.70, 0.64, 0.60])
    pairs = sorted(rank_systems(correct, clusters=patients, seed=1).pairs, key=lambda pair: pair.p)
    assert pairs[0].p_adjusted == pytest.approx(3 * pairs[0].p)


def test_rank_intervals_equal_those_of_a_separate_bootstrap():
    """Computed again with a loop over resamples that are drawn patient by patient."""
    correct, patients = draw_systems([0.63, 0.62, 0.61, 0.40])
    random = np.random.default_rng(9)
    ranks = []
    for _ in range(1500):
        drawn_patients = random.integers(0, 200, 200)
        rows = (drawn_patients[:, None] * 3 + np.arange(3)).ravel()
        ranks.append(stats.rankdata(-correct[rows].mean(axis=0), method="min"))
    expected = np.quantile(ranks, [0.025, 0.975], axis=0)
    for system in rank_systems(correct, clusters=patients, seed=1).systems:
        low, high = expected[:, system.index]
        assert abs(system.rank_low - low) <= 1
        assert abs(system.rank_high - high) <= 1
    assert rank_systems(correct, clusters=patients, seed=1).systems[-1].rank_low == 4


def test_a_system_significantly_worse_than_the_first_of_a_group_begins_a_new_group():
    correct, patients = draw_systems([0.80, 0.79, 0.50, 0.49])
    ranking = rank_systems(correct, clusters=patients, seed=1)
    assert [(system.index in (0, 1), system.group) for system in ranking.systems] == [
        (True, 1), (True, 1), (False, 2), (False, 2)
    ]  # fmt: skip


def test_equal_systems_share_rank_and_group():
    correct, patients = draw_systems([0.6])
    twice = np.concatenate([correct, correct], axis=1)
    ranking = rank_systems(twice, clusters=patients, seed=1)
    assert [(s.rank, s.rank_low, s.rank_high, s.group) for s in ranking.systems] == [(1, 1, 2, 1)] * 2
    assert ranking.pairs[0].p == 1.0


def test_the_ranking_does_not_depend_on_the_order_of_systems():
    correct, patients = draw_systems([0.7, 0.6, 0.5])
    forward = rank_systems(correct, clusters=patients, seed=3)
    backward = rank_systems(correct[:, ::-1], clusters=patients, seed=3)
    assert [(s.score, s.rank_low, s.rank_high, s.group) for s in forward.systems] == [
        (s.score, s.rank_low, s.rank_high, s.group) for s in backward.systems
    ]


def test_one_patient_gives_no_interval_and_no_significance():
    correct = np.array([[True, False], [True, False]])
    [pair] = rank_systems(correct, clusters=[0, 0], seed=1).pairs
    assert (pair.low, pair.p_adjusted, pair.is_significant) == (None, None, False)


def test_no_system_gives_an_empty_ranking():
    assert rank_systems(np.zeros((3, 0), dtype=bool), clusters=[0, 1, 2], seed=1).systems == ()
