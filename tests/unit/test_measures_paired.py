"""Two raters on the same questions; ranges where only the counts are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest, chi2

from measures.paired import (
    cochran_q,
    compare_margins,
    compare_paired,
    mcnemar,
    newcombe_paired,
    newcombe_unpaired,
    sign_flip_test,
    tango,
)
from measures.proportions import wilson

counts = st.integers(0, 40)


@given(counts, counts)
def test_the_exact_p_equals_the_binomial_test(a_only, b_only):
    exact, mid = mcnemar(a_only, b_only)
    if a_only + b_only == 0:
        assert (exact, mid) == (1.0, 1.0)
        return
    assert exact == pytest.approx(binomtest(a_only, a_only + b_only, 0.5).pvalue)
    assert mid <= exact


def test_equal_numbers_of_discordant_pairs_have_p_1():
    assert mcnemar(0, 0) == (1.0, 1.0)
    assert mcnemar(5, 5)[0] == 1.0


def test_the_sign_flip_test_flips_whole_exams():
    # Four questions of one exam, all for a: one coin, p = 1. Four exams of one question: 2 / 16.
    assert sign_flip_test(np.array([4]))[0] == 1.0
    assert sign_flip_test(np.array([1, 1, 1, 1]))[0] == pytest.approx(2 / 16)
    # sizes 2 and 1: the sums are -3, -1, 1, 3
    assert sign_flip_test(np.array([2, 1]))[0] == pytest.approx(2 / 4)
    assert sign_flip_test(np.array([2, -1]))[0] == 1.0


@given(counts, counts, counts)
def test_tango_contains_the_difference_and_is_antisymmetric(a_only, b_only, concordant):
    n = a_only + b_only + concordant
    if n == 0:
        return
    low, high = tango(a_only, b_only, n)
    assert -1 <= low <= (a_only - b_only) / n <= high <= 1
    assert tango(b_only, a_only, n) == pytest.approx((-high, -low), abs=1e-6)


@given(counts, counts, st.integers(1, 40))
def test_tango_excludes_0_if_the_chi_square_is_significant(a_only, b_only, concordant):
    # the score interval at a difference of 0 is McNemar's chi-square
    low, high = tango(a_only, b_only, a_only + b_only + concordant)
    p = chi2.sf((a_only - b_only) ** 2 / (a_only + b_only), 1) if a_only + b_only else 1.0
    if abs(p - 0.05) > 1e-6:
        assert (low > 0 or high < 0) == (p < 0.05)


def test_clustering_by_exam_widens_the_interval_of_a_difference():
    a = np.repeat([True, True, True, False, True], 4)
    b = np.repeat([True, False, True, True, False], 4)
    unclustered, clustered = compare_paired(a, b), compare_paired(a, b, clusters=np.repeat(np.arange(5), 4))
    assert clustered.low < unclustered.low
    assert clustered.p_exact > unclustered.p_exact
    assert clustered.note == "clustered by exam"


def test_one_question_per_exam_does_not_change_the_comparison():
    rng = np.random.default_rng(1)
    a, b = rng.random(50) < 0.8, rng.random(50) < 0.7
    assert compare_paired(a, b, clusters=np.arange(50)) == compare_paired(a, b)


def test_a_comparison_without_common_questions_is_not_defined():
    assert compare_paired([], []).note == "not defined: no question was answered by both"


# -------------------------------------------------------------------------------- only counts are known


def test_the_published_rexvqa_reader_shares_are_of_198_questions():
    # section 6.1: every printed accuracy is k/198
    for published, count in (
        (83.84, 166),
        (77.78, 154),
        (77.27, 153),
        (69.70, 138),
        (65.66, 130),
        (24.75, 49),
    ):
        assert round(100 * count / 198, 2) == pytest.approx(published)
        assert abs(100 * round(published * 2) / 200 - published) > 0.005  # no k/200 rounds to it


def test_166_of_198_has_the_wilson_interval_78_1_to_88_3():
    proportion = wilson(166, 198)
    assert (round(100 * proportion.low, 1), round(100 * proportion.high, 1)) == (78.1, 88.3)


def test_comparing_margins_gives_the_range_of_possible_results():
    comparison = compare_margins(166, 153, 198)
    assert comparison.difference == pytest.approx(13 / 198)
    # 13 more is the least; at most, the model answered all 45 that the reader missed
    assert comparison.a_only == (13, 45)
    assert comparison.p_exact == pytest.approx((mcnemar(13, 0)[0], mcnemar(45, 32)[0]))
    assert comparison.p_exact[0] < 0.001
    assert comparison.p_exact[1] > 0.05
    assert comparison.low[0] == pytest.approx(tango(45, 32, 198)[0])
    assert comparison.high[0] == pytest.approx(tango(13, 0, 198)[1])
    assert "not known" in comparison.note


def test_the_published_error_shares_have_wilson_intervals():
    # ReXVQA section 3.3: of 120 questions 13, 8, 6 and 4
    published = {13: (10.8, 6.4, 17.7), 8: (6.7, 3.4, 12.6), 6: (5.0, 2.3, 10.5), 4: (3.3, 1.3, 8.3)}
    for count, expected in published.items():
        proportion = wilson(count, 120)
        shares = tuple(
            round(100 * value, 1) for value in (proportion.estimate, proportion.low, proportion.high)
        )
        assert shares == pytest.approx(expected, abs=0.11), count


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="199 and 153 must be 0 to 198"):
        compare_margins(199, 153, 198)


# -------------------------------------------------------------------------------- three and more raters


def test_cochran_q_of_two_raters_equals_mcnemar_chi_square():
    correct = np.array([[1, 0]] * 9 + [[0, 1]] * 3 + [[1, 1]] * 5) == 1
    q, degrees, p = cochran_q(correct)
    assert (q, p) == pytest.approx((3, chi2.sf(3, 1)))  # (9 - 3)^2 / (9 + 3)
    assert degrees == 1


def test_unanimous_raters_have_no_cochran_q():
    assert cochran_q(np.ones((5, 3), dtype=bool)) == (None, 2, 1.0)
    assert cochran_q(np.ones((0, 3), dtype=bool)) == (None, 2, None)


def test_an_unpaired_difference_equals_newcombes_example():
    # Newcombe 1998, 56/70 against 48/80: .0524 to .3339
    assert newcombe_unpaired(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize(
    "interval", [lambda: newcombe_paired(0, 0, 0, 0), lambda: newcombe_unpaired(0, 0, 1, 2)]
)
def test_a_difference_without_questions_is_refused(interval):
    with pytest.raises(ValueError, match="a share of 0 questions"):
        interval()


def _tango_score(difference, a_only, b_only, n):
    """Tango's score statistic, computed independently of the code of the app."""
    linear = -a_only - b_only + (2 * n - a_only + b_only) * difference
    root = math.sqrt(max(0.0, linear**2 + 8 * n * b_only * difference * (1 - difference)))
    variance = n * ((root - linear) / (2 * n) + difference * (1 - difference))
    return (a_only - b_only - n * difference) / math.sqrt(max(variance, 1e-300))


@given(counts, counts, st.integers(1, 200))
def test_the_score_at_tangos_limits_is_the_critical_value(a_only, b_only, concordant):
    n = a_only + b_only + concordant
    middle = (a_only - b_only) / n
    for limit, target, end in zip(
        tango(a_only, b_only, n), (1.959963985, -1.959963985), (-1, 1), strict=True
    ):
        root = brentq(lambda x, aim=target: _tango_score(x, a_only, b_only, n) - aim, end, middle, xtol=1e-13)
        assert limit == pytest.approx(root, abs=1e-8)
