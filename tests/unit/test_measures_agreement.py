"""Weighted kappa against published tables, scikit-learn and statsmodels, and in edge cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from measures.agreement import Weights, agreement_weights, contingency
from measures.kappa_intervals import kappa_interval

# (table, linear kappa, its SE, quadratic kappa, its SE): as R 4.2.2 prints them (vcd::Kappa).
PUBLISHED_KAPPAS = {
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

pairs_of_three_categories = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=8, max_size=60)


def list_pairs(table):
    """The table's cells as one pair per count."""
    cells = [
        (row, column)
        for row, counts in enumerate(table)
        for column, count in enumerate(counts)
        for _ in range(count)
    ]
    return [row for row, _ in cells], [column for _, column in cells]


def weighted_kappa(first, second, *, k, weights, clusters=None):
    """Kappa with the large-sample interval."""
    return kappa_interval(
        np.array(first, dtype=np.int64), np.array(second, dtype=np.int64),
        weights=agreement_weights(k, weights), clusters=None if clusters is None else np.array(clusters),
        draws=0,
    )  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED_KAPPAS)
def test_weighted_kappa_and_se_equal_the_published_values(name):
    table, linear, linear_se, quadratic, quadratic_se = PUBLISHED_KAPPAS[name]
    first, second = list_pairs(table)
    linear_result = weighted_kappa(first, second, k=len(table), weights=Weights.LINEAR)
    quadratic_result = weighted_kappa(first, second, k=len(table), weights=Weights.QUADRATIC)
    assert (linear_result.value, linear_result.se) == pytest.approx((linear, linear_se), abs=1e-6)
    assert (quadratic_result.value, quadratic_result.se) == pytest.approx((quadratic, quadratic_se), abs=1e-6)


def test_unweighted_kappa_equals_the_hand_calculation():
    # Cohen 1968: agreement .44 + .20 + .06 = .70; chance .6*.5 + .3*.3 + .1*.2 = .41
    first, second = list_pairs(PUBLISHED_KAPPAS["Cohen 1968"][0])
    kappa = weighted_kappa(first, second, k=3, weights=Weights.NONE)
    assert kappa.value == pytest.approx((0.70 - 0.41) / (1 - 0.41))
    assert (kappa.low, kappa.high) == pytest.approx((0.391563702, 0.591487145), abs=1e-6)


@given(pairs_of_three_categories, st.sampled_from([Weights.LINEAR, Weights.QUADRATIC]))
@pytest.mark.slow
def test_kappa_equals_scikit_learn_and_its_se_equals_statsmodels(cells, weights):
    first, second = [a for a, _ in cells], [b for _, b in cells]
    if len(set(first)) == 1 or len(set(second)) == 1:
        return  # our rule for constant raters has its own tests
    kappa = weighted_kappa(first, second, k=3, weights=weights)
    scikit_learn_kappa = cohen_kappa_score(first, second, labels=[0, 1, 2], weights=weights.value)
    assert kappa.value == pytest.approx(scikit_learn_kappa, abs=1e-9)
    with np.errstate(all="ignore"):  # statsmodels divides 0 by 0 here and gives NaN
        statsmodels_kappa = cohens_kappa(contingency(first, second, k=3), wt=weights.value)
    if not math.isnan(statsmodels_kappa.std_kappa):
        assert kappa.se == pytest.approx(statsmodels_kappa.std_kappa, abs=1e-6)


def test_linear_weights_fall_by_half_for_three_categories():
    assert agreement_weights(3, Weights.LINEAR).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]


def test_quadratic_weights_fall_by_the_square_of_the_distance():
    assert agreement_weights(3, Weights.QUADRATIC)[0].tolist() == [1, 0.75, 0]


@given(pairs_of_three_categories)
def test_kappa_does_not_depend_on_the_order_of_the_raters(cells):
    first, second = [a for a, _ in cells], [b for _, b in cells]
    kappa = weighted_kappa(first, second, k=3, weights=Weights.QUADRATIC)
    swapped = weighted_kappa(second, first, k=3, weights=Weights.QUADRATIC)
    assert (kappa.value, kappa.se) == pytest.approx((swapped.value, swapped.se), nan_ok=True)


def test_clusters_of_one_pair_do_not_change_the_se():
    first, second = list_pairs(PUBLISHED_KAPPAS["Bortz 1990"][0])
    unclustered = weighted_kappa(first, second, k=3, weights=Weights.LINEAR)
    clustered = weighted_kappa(first, second, k=3, weights=Weights.LINEAR, clusters=range(100))
    assert clustered.se == pytest.approx(unclustered.se)


def test_duplicate_pairs_in_one_cluster_add_no_evidence():
    first, second = list_pairs(PUBLISHED_KAPPAS["Bortz 1990"][0])
    single = weighted_kappa(first, second, k=3, weights=Weights.LINEAR)
    duplicated = weighted_kappa(
        first * 2, second * 2, k=3, weights=Weights.LINEAR, clusters=[*range(100), *range(100)]
    )
    assert duplicated.value == pytest.approx(single.value)
    assert duplicated.se == pytest.approx(single.se)


def test_one_constant_rater_gives_kappa_0_without_an_interval():
    # R prints SE 0 here; the SE cannot be estimated, so none is shown.
    kappa = weighted_kappa([0] * 90 + [1] * 10, [0] * 100, k=2, weights=Weights.LINEAR)
    assert (kappa.value, kappa.se, kappa.low, kappa.high) == (0.0, None, None, None)
    assert "single category" in kappa.note


@pytest.mark.parametrize("second", [[0] * 5, [1] * 5])
def test_kappa_of_two_constant_raters_is_not_defined(second):
    kappa = weighted_kappa([0] * 5, second, k=3, weights=Weights.QUADRATIC)
    assert kappa.value is None
    assert kappa.note == "not defined: one category"


def test_kappa_without_pairs_is_not_defined():
    kappa = weighted_kappa([], [], k=3, weights=Weights.LINEAR)
    assert (kappa.n, kappa.value) == (0, None)
    assert kappa.note.startswith("not defined")


def test_full_agreement_gives_kappa_1_without_an_interval():
    kappa = weighted_kappa([0, 1, 2, 1], [0, 1, 2, 1], k=3, weights=Weights.LINEAR)
    assert (kappa.value, kappa.low) == (pytest.approx(1.0), None)


def test_few_pairs_give_a_note_on_the_rough_interval():
    kappa = weighted_kappa([0, 1, 2, 1], [0, 1, 2, 0], k=3, weights=Weights.LINEAR)
    assert kappa.note == "fewer than 30 questions"


def test_a_contingency_table_has_the_first_rater_in_its_rows():
    assert contingency([0, 0, 1], [1, 1, 0], k=2).tolist() == np.array([[0, 2], [1, 0]]).tolist()
