"""Inclusion probabilities of draws by risk: floor + c x risk, with the planned number on average."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.batches import RiskDesign, RiskSource, SamplingPlan
from domain.draw_hash import compute_draw_hashes
from domain.errors import InvalidValue
from sampling.risk import (
    combine_signals,
    compute_draw_numbers,
    compute_inclusion_probabilities,
    sort_for_review,
)
from storage.sampling.batches import plan_from_dict, plan_to_dict


def compute_probabilities(risks, n, share, available=None):
    risks = np.asarray(risks, dtype=float)
    probabilities, _ = compute_inclusion_probabilities(
        risks,
        np.zeros(len(risks), dtype=np.int32),
        np.ones(len(risks), dtype=bool) if available is None else np.asarray(available),
        counts_to_draw=[n],
        uniform_share=share,
    )
    return probabilities


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=1, max_size=60),
    st.floats(0.05, 1),
    st.data(),
)
def test_probabilities_have_the_planned_sum_and_at_least_the_floor(risks, share, data):
    n = data.draw(st.integers(1, len(risks)))
    probabilities = compute_probabilities(risks, n, share)
    assert probabilities.sum() == pytest.approx(n)
    assert probabilities.min() >= min(1, share * n / len(risks)) - 1e-12
    assert probabilities.max() <= 1
    assert all(np.diff(probabilities[np.argsort(risks, kind="stable")]) >= -1e-12)


def test_probability_is_the_floor_plus_a_multiple_of_the_risk():
    # floor 0.5 x 2 / 4 = 0.25; the remaining question is divided 1 : 3 over the two risks
    assert compute_probabilities([0, 0, 0.2, 0.6], 2, 0.5) == pytest.approx([0.25, 0.25, 0.5, 1.0])


def test_a_uniform_share_of_one_gives_equal_chances():
    assert compute_probabilities([0, 0.3, 1], 1, 1.0) == pytest.approx([1 / 3, 1 / 3, 1 / 3])


def test_unavailable_questions_do_not_count_towards_the_planned_number():
    probabilities = compute_probabilities([0, 0, 1, 1], 1, 0.5, available=[True, False, True, False])
    assert probabilities[[0, 2]].sum() == pytest.approx(1)
    assert probabilities[1] == probabilities[0]


def test_the_probabilities_of_each_stratum_are_computed_separately():
    strata = np.array([0, 0, 1, 1], dtype=np.int32)
    probabilities, floors = compute_inclusion_probabilities(
        np.array([0.0, 1, 0, 1]), strata, np.ones(4, dtype=bool), counts_to_draw=[1, 0], uniform_share=0.5
    )
    assert probabilities == pytest.approx([0.25, 0.75, 0, 0])
    assert floors == pytest.approx([0.25, 0.25, 0, 0])


def test_draw_numbers_are_uniform_and_independent_of_other_seeds():
    hashes = np.array(compute_draw_hashes([f"q{i}" for i in range(20_000)]))
    first, second = compute_draw_numbers(hashes, seed=1), compute_draw_numbers(hashes, seed=2)
    counts, _ = np.histogram(first, bins=20, range=(0, 1))
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8  # chi-square, 19 degrees of freedom, p = .001
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03


def test_the_order_of_review_does_not_follow_the_numbers_of_the_draw():
    rng = np.random.default_rng(3)
    numbers, review_numbers = rng.random(4000), rng.random(4000)
    exams = rng.integers(0, 1500, 4000).tolist()
    order = sort_for_review(numbers, review_numbers, exams)
    assert sorted(order) == list(range(4000))
    ordered_exams = [exams[index] for index in order]
    assert len(set(ordered_exams)) == 1 + sum(a != b for a, b in itertools.pairwise(ordered_exams))
    mean_difference = numbers[order[:2000]].mean() - numbers[order[2000:]].mean()
    assert abs(mean_difference) < 0.04  # four standard errors of a difference of means of 2,000


def test_risk_is_the_weighted_mean_of_its_sources():
    signals = {source: np.array([0.0, 1.0]) for source in RiskSource}
    signals[RiskSource.KEY] = np.array([1.0, 0.0])
    design = RiskDesign(weights={RiskSource.KEY: 3.0, RiskSource.CHECKS: 1.0})
    assert combine_signals(signals, design).tolist() == [0.75, 0.25]


def test_a_plan_with_a_risk_design_is_stored_and_loaded():
    plan = SamplingPlan(
        seed=3,
        risk=RiskDesign(uniform_share=0.25, weights={RiskSource.CONTRADICTIONS: 2.0, RiskSource.KEY: 1.0}),
    )
    assert plan_from_dict(plan_to_dict(plan)).risk == plan.risk


@pytest.mark.parametrize(
    "fields", [{"uniform_share": 0.01}, {"weights": {}}, {"weights": {RiskSource.KEY: 0.0}}]
)
def test_a_design_without_a_uniform_arm_or_sources_is_invalid(fields):
    with pytest.raises(InvalidValue):
        RiskDesign(**fields)
