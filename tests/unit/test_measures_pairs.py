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
from measures.kappa_bootstrap import bootstrap_kappas, kappa_difference
from measures.kappa_intervals import POSTERIOR, kappa_interval
from measures.kappa_precision import cases_for_kappa, kappa_half_width
from measures.pairs import kappa_influence, kappas, pair_tables

tables = st.integers(2, 5).flatmap(lambda k: arrays(np.int64, (k, k), elements=st.integers(0, 25)))


def pairs_of(table):
    """The table's counts as one row per question."""
    k = len(table)
    return np.divmod(np.repeat(np.arange(k * k), table.ravel()), k)


@given(tables, st.sampled_from(list(Weights)))
def test_kappa_of_random_tables_is_scikit_learns_and_its_error_statsmodels(table, weights):
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    if (rows > 0).sum() < 2 or (columns > 0).sum() < 2:
        return  # constant raters have rules of their own
    k = len(table)
    kappa, se = kappas(table, agreement_weights(k, weights))
    first, second = pairs_of(table)
    name = None if weights is Weights.NONE else weights.value
    theirs = cohen_kappa_score(first, second, labels=list(range(k)), weights=name)
    assert float(kappa) == pytest.approx(theirs, abs=1e-9)
    with np.errstate(all="ignore"):  # statsmodels divides 0 by 0 here and gives NaN
        peer = cohens_kappa(table, wt=name).std_kappa
    if math.isnan(peer):
        return
    # compared as variances: near 0 the root magnifies rounding errors
    assert float(se) ** 2 == pytest.approx(peer**2, abs=1e-12)
    if peer > 1e-3:
        assert float(se) == pytest.approx(peer, abs=1e-9)


@given(arrays(np.int64, (30, 4), elements=st.integers(-1, 2)))
def test_tables_of_all_pairs_are_confusion_matrices_of_common_questions(answers):
    pairs = list(combinations(range(4), 2))
    stratum = np.arange(30) % 3 - 1  # a third of the questions are in no stratum
    found = pair_tables(answers, pairs, k=3, stratum=stratum, strata=2)
    for at, (a, b) in enumerate(pairs):
        for place in range(2):
            kept = (answers[:, a] >= 0) & (answers[:, b] >= 0) & (stratum == place)
            if not kept.any():
                assert found[place, at].sum() == 0
                continue
            theirs = confusion_matrix(answers[kept, a], answers[kept, b], labels=[0, 1, 2])
            assert found[place, at].tolist() == theirs.tolist()


def test_a_constant_rater_has_kappa_0_without_an_error_and_two_have_none():
    kappa, se = kappas(np.array([[[90, 0], [10, 0]], [[9, 0], [0, 0]], [[0, 9], [0, 0]]]), np.eye(2))
    assert kappa[0] == 0.0
    assert np.isnan([se[0], kappa[1], kappa[2]]).all()


@given(arrays(np.int64, (20, 3), elements=st.integers(0, 3)))
def test_fleiss_kappa_is_statsmodels(ratings):
    counts = np.stack([(ratings == category).sum(axis=1) for category in range(4)], axis=1)
    found = agreement_coefficient(ratings, Coefficient.FLEISS, weights=np.eye(4)).value
    if found is None:
        assert (counts.sum(axis=0) > 0).sum() == 1
        return
    assert found == pytest.approx(fleiss_kappa(counts), abs=1e-9)


@given(arrays(np.int64, (15, 4), elements=st.integers(-1, 1)))
def test_ordinal_alpha_of_two_categories_is_nominal_alpha(ratings):
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


def test_every_question_twice_under_one_exam_is_no_more_evidence_for_a_group():
    ratings = np.random.default_rng(2).integers(3, size=(30, 4))
    once = agreement_coefficient(ratings, Coefficient.CONGER, weights=np.eye(3))
    exams = np.repeat(np.arange(30), 2)
    twice = agreement_coefficient(
        np.repeat(ratings, 2, axis=0), Coefficient.CONGER, weights=np.eye(3), clusters=exams
    )
    assert (twice.value, twice.se) == pytest.approx((once.value, once.se))


# ----------------------------------------------------------------------------------------------- intervals


def test_the_posterior_widens_with_questions_that_share_exams():
    random = np.random.default_rng(4)
    first = np.repeat(random.integers(2, size=30), 3)
    second = np.where(np.repeat(random.random(30) < 0.8, 3), first, 1 - first)
    alone = kappa_interval(first, second, weights=np.eye(2), seed=1)
    together = kappa_interval(first, second, weights=np.eye(2), clusters=np.repeat(np.arange(30), 3), seed=1)
    assert alone.method == together.method == POSTERIOR
    assert together.high - together.low > 1.3 * (alone.high - alone.low)


@given(tables)
def test_an_interval_holds_its_estimate(table):
    first, second = pairs_of(table)
    found = kappa_interval(first, second, weights=np.eye(len(table)), draws=200)
    if found.low is not None:
        assert -1 <= found.low <= found.value <= found.high <= 1


def test_the_joint_bootstrap_gives_the_kappas_of_its_resamples():
    random = np.random.default_rng(5)
    answers = random.integers(-1, 3, size=(40, 3))
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = bootstrap_kappas(answers, pairs, weights=np.eye(3), seed=9, resamples=5)
    drawn = np.random.default_rng(9).multinomial(40, np.full(40, 1 / 40), size=5)
    for at in range(5):
        resample = np.repeat(answers, drawn[at], axis=0)
        theirs, _ = kappas(pair_tables(resample, pairs, k=3)[0], np.eye(3))
        assert found[at, 0] == pytest.approx(theirs, abs=1e-5)


def test_a_difference_of_kappas_keeps_their_correlation():
    random = np.random.default_rng(6)
    truth = random.integers(2, size=(150, 1))
    answers = np.where(random.random((150, 3)) < 0.85, truth, 1 - truth)
    found = kappa_difference(answers, (0, 1), (0, 1), weights=np.eye(2), seed=1)
    assert (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)
    other = kappa_difference(answers, (0, 1), (0, 2), weights=np.eye(2), seed=1)
    assert other.low < other.difference < other.high
    assert other.defined == 1.0


def test_the_cases_for_a_precision_give_that_precision():
    cases = cases_for_kappa(0.6, [0.9, 0.1], half_width=0.1)
    assert kappa_half_width(0.6, [0.9, 0.1], cases=cases) <= 0.1
    assert kappa_half_width(0.6, [0.9, 0.1], cases=cases - 1) > 0.1


def test_the_planned_width_is_that_of_the_table_that_was_expected():
    table = np.array([[40, 10], [10, 40]])  # kappa .6, shares even
    _, pull = kappa_influence(table, np.eye(2))
    se = np.sqrt((table * pull**2).sum()) / 100
    assert kappa_half_width(0.6, [0.5, 0.5], cases=100) == pytest.approx(1.959964 * se, abs=1e-6)


def test_questions_with_one_answer_are_left_out_of_the_kappa_of_a_category():
    answers = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1]])
    lonely = np.array([[0, -1, -1], [-1, -1, -1]])
    # category 0: 4 of 9 answers; 1 question with 1 x 2 disagreeing pairs of 2: 1 - 1 / (9 x 4/9 x 5/9) = .55
    assert fleiss_by_category(np.vstack([answers, lonely]), k=2)[0] == pytest.approx(0.55)
    assert fleiss_by_category(lonely, k=2) == [None, None]
