"""All pairs at once, against scikit-learn, statsmodels and a loop; the joint bootstrap."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

from measures.agreement import Weights, agreement_weights
from measures.group_agreement import Coefficient, agreement_coefficient, fleiss_by_category, ordinal_weights
from measures.kappa_bootstrap import bootstrap_kappas
from measures.kappa_intervals import POSTERIOR, kappa_interval
from measures.pairs import build_pair_tables, compute_kappas

tables = st.integers(2, 5).flatmap(lambda k: arrays(np.int64, (k, k), elements=st.integers(0, 25)))


def table_to_pairs(table):
    """The table's counts as one row per question."""
    k = len(table)
    return np.divmod(np.repeat(np.arange(k * k), table.ravel()), k)


@given(tables, st.sampled_from(list(Weights)))
@pytest.mark.slow
def test_kappa_equals_scikit_learn_and_its_se_equals_statsmodels(table, weights):
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if (rows > 0).sum() < 2 or (columns > 0).sum() < 2:
        return  # constant raters have rules of their own
    k = len(table)
    kappa, se = compute_kappas(table, agreement_weights(k, weights))
    first, second = table_to_pairs(table)
    name = None if weights is Weights.NONE else weights.value
    scikit_learn_kappa = cohen_kappa_score(first, second, labels=list(range(k)), weights=name)
    assert float(kappa) == pytest.approx(scikit_learn_kappa, abs=1e-9)
    with np.errstate(all="ignore"):  # statsmodels divides 0 by 0 here and gives NaN
        statsmodels_se = cohens_kappa(table, wt=name).std_kappa
    if math.isnan(statsmodels_se):
        return
    # compared as variances: near 0 the root magnifies rounding errors
    assert float(se) ** 2 == pytest.approx(statsmodels_se**2, abs=1e-12)
    if statsmodels_se > 1e-3:
        assert float(se) == pytest.approx(statsmodels_se, abs=1e-9)


@given(arrays(np.int64, (30, 4), elements=st.integers(-1, 2)))
@pytest.mark.slow
def test_pair_tables_equal_scikit_learn_confusion_matrices(answers):
    pairs = list(combinations(range(4), 2))
    stratum = np.arange(30) % 3 - 1  # a third of the questions are in no stratum
    pair_counts = build_pair_tables(answers, pairs, k=3, stratum=stratum, strata=2)
    for pair_index, (a, b) in enumerate(pairs):
        for stratum_index in range(2):
            included = (answers[:, a] >= 0) & (answers[:, b] >= 0) & (stratum == stratum_index)
            if not included.any():
                assert pair_counts[stratum_index, pair_index].sum() == 0
                continue
            expected = confusion_matrix(answers[included, a], answers[included, b], labels=[0, 1, 2])
            assert pair_counts[stratum_index, pair_index].tolist() == expected.tolist()


def test_one_constant_rater_has_kappa_0_and_two_constant_raters_have_no_kappa():
    kappa, se = compute_kappas(np.array([[[90, 0], [10, 0]], [[9, 0], [0, 0]], [[0, 9], [0, 0]]]), np.eye(2))
    assert kappa[0] == 0.0
    assert np.isnan([se[0], kappa[1], kappa[2]]).all()


@given(arrays(np.int64, (20, 3), elements=st.integers(0, 3)))
@pytest.mark.slow
def test_fleiss_kappa_equals_statsmodels(ratings):
    counts = np.stack([(ratings == category).sum(axis=1) for category in range(4)], axis=1)
    kappa = agreement_coefficient(ratings, Coefficient.FLEISS, weights=np.eye(4)).value
    if kappa is None:
        assert (counts.sum(axis=0) > 0).sum() == 1
        return
    assert kappa == pytest.approx(fleiss_kappa(counts), abs=1e-9)


@given(arrays(np.int64, (15, 4), elements=st.integers(-1, 1)))
@pytest.mark.slow
def test_ordinal_alpha_of_two_categories_equals_nominal_alpha(ratings):
    nominal = agreement_coefficient(ratings, Coefficient.ALPHA, weights=np.eye(2)).value
    ordinal = agreement_coefficient(ratings, Coefficient.ALPHA, weights=ordinal_weights(ratings, k=2)).value
    assert ordinal == pytest.approx(nominal, abs=1e-9)


def test_a_group_of_one_category_has_agreement_and_ac1_but_no_kappa():
    ratings = np.zeros((10, 3), dtype=np.int64)
    assert (
        agreement_coefficient(ratings, Coefficient.FLEISS, weights=np.eye(2)).note
        == "not defined: one category"
    )
    assert agreement_coefficient(ratings, Coefficient.PERCENT, weights=np.eye(2)).value == 1.0
    assert agreement_coefficient(ratings, Coefficient.AC1, weights=np.eye(2)).value == 1.0


def test_duplicate_questions_in_one_exam_add_no_evidence():
    ratings = np.random.default_rng(2).integers(3, size=(30, 4))
    single = agreement_coefficient(ratings, Coefficient.CONGER, weights=np.eye(3))
    exams = np.repeat(np.arange(30), 2)
    duplicated = agreement_coefficient(
        np.repeat(ratings, 2, axis=0), Coefficient.CONGER, weights=np.eye(3), clusters=exams
    )
    assert (duplicated.value, duplicated.se) == pytest.approx((single.value, single.se))


# ----------------------------------------------------------------------------------------------- intervals


def test_clustering_by_exam_widens_the_posterior_interval():
    rng = np.random.default_rng(4)
    first = np.repeat(rng.integers(2, size=30), 3)
    second = np.where(np.repeat(rng.random(30) < 0.8, 3), first, 1 - first)
    unclustered = kappa_interval(first, second, weights=np.eye(2), seed=1)
    clustered = kappa_interval(first, second, weights=np.eye(2), clusters=np.repeat(np.arange(30), 3), seed=1)
    assert unclustered.method == clustered.method == POSTERIOR
    assert clustered.high - clustered.low > 1.3 * (unclustered.high - unclustered.low)


@given(tables)
@pytest.mark.slow
def test_an_interval_contains_its_estimate(table):
    first, second = table_to_pairs(table)
    interval = kappa_interval(first, second, weights=np.eye(len(table)), draws=200)
    if interval.low is not None:
        assert -1 <= interval.low <= interval.value <= interval.high <= 1


def test_the_joint_bootstrap_equals_kappas_of_each_resample():
    rng = np.random.default_rng(5)
    answers = rng.integers(-1, 3, size=(40, 3))
    pairs = [(0, 1), (0, 2), (1, 2)]
    bootstrapped = bootstrap_kappas(answers, pairs, weights=np.eye(3), seed=9, resamples=5)
    resample_counts = np.random.default_rng(9).multinomial(40, np.full(40, 1 / 40), size=5)
    for index in range(5):
        resample = np.repeat(answers, resample_counts[index], axis=0)
        expected, _ = compute_kappas(build_pair_tables(resample, pairs, k=3)[0], np.eye(3))
        assert bootstrapped[index, 0] == pytest.approx(expected, abs=1e-5)


def test_kappa_by_category_excludes_questions_with_one_answer():
    answers = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1]])
    one_answer = np.array([[0, -1, -1], [-1, -1, -1]])
    # category 0: 4 of 9 answers; one question divides 1 to 2: 1 - 1 x 2 / (9 x 2 x 4/9 x 5/9) = .55
    assert fleiss_by_category(np.vstack([answers, one_answer]), k=2)[0] == pytest.approx(0.55)
    assert fleiss_by_category(one_answer, k=2) == [None, None]
