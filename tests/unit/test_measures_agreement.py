"""Weighted kappa against published tables, scikit-learn and statsmodels, and in edge cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from measures.agreement import Weights, agreement_weights, contingency, weighted_kappa

# (table, linear kappa, its SE, quadratic kappa, its SE): as R 4.2.2 prints them (vcd::Kappa).
PUBLISHED = {
    "Cohen 1968": (
        [[88, 14, 18], [10, 40, 10], [2, 6, 12]],
        0.473684210526316,
        0.0544323091776415,
        0.454545454545455,
        0.0664536815910782,
    ),
    "Bortz 1990": (
        [[53, 5, 2], [11, 14, 5], [1, 6, 3]],
        0.492307692307692,
        0.0717269427434705,
        0.566666666666667,
        0.0787240932194433,
    ),
    "Landis and Koch 1977, Winnipeg": (
        [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]],
        0.379730547986679,
        0.051666826218334,
        0.52457646433184,
        0.0600550988317956,
    ),
    "SAS PROC FREQ, skin condition": (
        [[10, 4, 1, 0], [5, 10, 12, 2], [2, 4, 12, 5], [0, 2, 6, 13]],
        0.508160071540353,
        0.0655083810347685,
        0.660722891566265,
        0.0616428324170001,
    ),
    "Feinstein and Cicchetti 1990, second": (
        [[80, 10], [5, 5]],
        0.318181818181818,
        0.133456521223836,
        0.318181818181818,
        0.133456521223836,
    ),
}

pairs_of_three = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=8, max_size=60)


def pairs(table):
    """The table's cells as one pair per count."""
    cells = [
        (row, column)
        for row, counts in enumerate(table)
        for column, count in enumerate(counts)
        for _ in range(count)
    ]
    return [row for row, _ in cells], [column for _, column in cells]


@pytest.mark.parametrize("name", PUBLISHED)
def test_linear_and_quadratic_kappa_and_their_errors_are_the_published_ones(name):
    table, linear, linear_se, quadratic, quadratic_se = PUBLISHED[name]
    first, second = pairs(table)
    one = weighted_kappa(first, second, k=len(table), weights=Weights.LINEAR)
    other = weighted_kappa(first, second, k=len(table), weights=Weights.QUADRATIC)
    assert (one.estimate, one.se) == pytest.approx((linear, linear_se), abs=1e-6)
    assert (other.estimate, other.se) == pytest.approx((quadratic, quadratic_se), abs=1e-6)


def test_unweighted_kappa_by_hand():
    # Cohen 1968: agreement .44 + .20 + .06 = .70; chance .6*.5 + .3*.3 + .1*.2 = .41
    first, second = pairs(PUBLISHED["Cohen 1968"][0])
    found = weighted_kappa(first, second, k=3, weights=Weights.NONE)
    assert found.estimate == pytest.approx((0.70 - 0.41) / (1 - 0.41))
    assert (found.low, found.high) == pytest.approx((0.391563702, 0.591487145), abs=1e-6)


@given(pairs_of_three, st.sampled_from([Weights.LINEAR, Weights.QUADRATIC]))
def test_kappa_is_scikit_learns_and_its_error_is_statsmodels(cells, weights):
    first, second = [a for a, _ in cells], [b for _, b in cells]
    if len(set(first)) == 1 or len(set(second)) == 1:
        return  # our rule for constant raters has its own tests
    found = weighted_kappa(first, second, k=3, weights=weights)
    theirs = cohen_kappa_score(first, second, labels=[0, 1, 2], weights=weights.value)
    assert found.estimate == pytest.approx(theirs, abs=1e-9)
    with np.errstate(all="ignore"):  # statsmodels divides 0 by 0 here and gives NaN
        peer = cohens_kappa(contingency(first, second, k=3), wt=weights.value)
    if not math.isnan(peer.std_kappa):
        assert found.se == pytest.approx(peer.std_kappa, abs=1e-6)


def test_linear_weights_of_three_categories():
    assert agreement_weights(3, Weights.LINEAR).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]


def test_quadratic_weights_of_three_categories():
    assert agreement_weights(3, Weights.QUADRATIC)[0].tolist() == [1, 0.75, 0]


@given(pairs_of_three)
def test_who_is_first_does_not_matter(cells):
    first, second = [a for a, _ in cells], [b for _, b in cells]
    one = weighted_kappa(first, second, k=3, weights=Weights.QUADRATIC)
    other = weighted_kappa(second, first, k=3, weights=Weights.QUADRATIC)
    assert (one.estimate, one.se) == pytest.approx((other.estimate, other.se), nan_ok=True)


def test_clusters_of_one_pair_change_nothing():
    first, second = pairs(PUBLISHED["Bortz 1990"][0])
    alone = weighted_kappa(first, second, k=3, weights=Weights.LINEAR)
    one_each = weighted_kappa(first, second, k=3, weights=Weights.LINEAR, clusters=range(100))
    assert one_each.se == pytest.approx(alone.se)


def test_every_pair_twice_under_one_cluster_is_no_more_evidence():
    first, second = pairs(PUBLISHED["Bortz 1990"][0])
    once = weighted_kappa(first, second, k=3, weights=Weights.LINEAR)
    twice = weighted_kappa(
        first * 2, second * 2, k=3, weights=Weights.LINEAR, clusters=[*range(100), *range(100)]
    )
    assert twice.estimate == pytest.approx(once.estimate)
    assert twice.se == pytest.approx(once.se)


def test_one_side_with_a_single_category_gives_kappa_0_and_no_interval():
    # R prints SE 0 here; it cannot be estimated, so none is shown.
    found = weighted_kappa([0] * 90 + [1] * 10, [0] * 100, k=2, weights=Weights.LINEAR)
    assert (found.estimate, found.se, found.low, found.high) == (0.0, None, None, None)
    assert "single category" in found.note


@pytest.mark.parametrize("second", [[0] * 5, [1] * 5])
def test_two_sides_with_a_single_category_are_not_defined(second):
    found = weighted_kappa([0] * 5, second, k=3, weights=Weights.QUADRATIC)
    assert found.estimate is None
    assert found.note == "not defined: one category"


def test_no_pair_is_not_defined():
    found = weighted_kappa([], [], k=3, weights=Weights.LINEAR)
    assert (found.n, found.estimate) == (0, None)
    assert found.note.startswith("not defined")


def test_full_agreement_is_1_without_an_interval():
    found = weighted_kappa([0, 1, 2, 1], [0, 1, 2, 1], k=3, weights=Weights.LINEAR)
    assert (found.estimate, found.low) == (pytest.approx(1.0), None)


def test_few_pairs_say_that_the_interval_is_rough():
    found = weighted_kappa([0, 1, 2, 1], [0, 1, 2, 0], k=3, weights=Weights.LINEAR)
    assert "rough guide" in found.note


def test_lengths_that_differ_are_a_mistake():
    with pytest.raises(ValueError, match="one length"):
        weighted_kappa([0, 1], [0], k=2, weights=Weights.LINEAR)


def test_a_contingency_table_has_the_first_rater_in_its_rows():
    assert contingency([0, 0, 1], [1, 1, 0], k=2).tolist() == np.array([[0, 2], [1, 0]]).tolist()
