"""Two raters on the same questions; ranges where only the counts are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2

from measures.paired import (
    cochran_q,
    compare_margins,
    compare_paired,
    holm,
    mcnemar,
    newcombe_paired,
    newcombe_unpaired,
    sign_flip_test,
    tango,
)
from measures.proportions import wilson

counts = st.integers(0, 40)


@given(counts, counts)
def test_the_exact_test_is_the_binomial_one(a_only, b_only):
    exact, mid = mcnemar(a_only, b_only)
    if a_only + b_only == 0:
        assert (exact, mid) == (1.0, 1.0)
        return
    assert exact == pytest.approx(binomtest(a_only, a_only + b_only, 0.5).pvalue)
    assert mid <= exact


def test_ties_have_p_1():
    assert mcnemar(0, 0) == (1.0, 1.0)
    assert mcnemar(5, 5)[0] == 1.0


def test_an_exam_is_swapped_as_a_whole():
    # Four questions of one exam, all for a: one coin, p = 1. Four exams of one question: 2 / 16.
    assert sign_flip_test(np.array([4]))[0] == 1.0
    assert sign_flip_test(np.array([1, 1, 1, 1]))[0] == pytest.approx(2 / 16)
    # sizes 2 and 1: the sums are -3, -1, 1, 3
    assert sign_flip_test(np.array([2, 1]))[0] == pytest.approx(2 / 4)
    assert sign_flip_test(np.array([2, -1]))[0] == 1.0


@given(counts, counts, counts)
def test_tango_holds_the_difference_and_turns_with_the_raters(a_only, b_only, rest):
    n = a_only + b_only + rest
    if n == 0:
        return
    low, high = tango(a_only, b_only, n)
    assert -1 <= low <= (a_only - b_only) / n <= high <= 1
    assert tango(b_only, a_only, n) == pytest.approx((-high, -low), abs=1e-6)


@given(counts, counts, st.integers(1, 40))
def test_tango_leaves_out_0_where_the_chi_square_does(a_only, b_only, rest):
    # the score interval at a difference of 0 is McNemar's chi-square
    low, high = tango(a_only, b_only, a_only + b_only + rest)
    p = chi2.sf((a_only - b_only) ** 2 / (a_only + b_only), 1) if a_only + b_only else 1.0
    if abs(p - 0.05) > 1e-6:
        assert (low > 0 or high < 0) == (p < 0.05)


def test_exams_widen_the_interval_of_a_difference():
    a = np.repeat([True, True, True, False, True], 4)
    b = np.repeat([True, False, True, True, False], 4)
    alone, together = compare_paired(a, b), compare_paired(a, b, clusters=np.repeat(np.arange(5), 4))
    assert together.low < alone.low
    assert together.p_exact > alone.p_exact
    assert together.note == "clustered by exam"


def test_one_question_an_exam_changes_nothing():
    random = np.random.default_rng(1)
    a, b = random.random(50) < 0.8, random.random(50) < 0.7
    assert compare_paired(a, b, clusters=np.arange(50)) == compare_paired(a, b)


def test_no_common_question_is_not_defined():
    assert compare_paired([], []).note == "not defined: no question was answered by both"


# --------------------------------------------------------------------------------------- only counts are
# known


def test_the_readers_of_rexvqa_printed_as_shares_of_200_were_198():
    # section 6.1: every printed accuracy is k/198
    for printed, count in ((83.84, 166), (77.78, 154), (77.27, 153), (69.70, 138), (65.66, 130), (24.75, 49)):
        assert round(100 * count / 198, 2) == pytest.approx(printed)
        assert abs(100 * round(printed * 2) / 200 - printed) > 0.005  # no k/200 rounds to it


def test_166_of_198_has_wilsons_78_1_to_88_3():
    found = wilson(166, 198)
    assert (round(100 * found.low, 1), round(100 * found.high, 1)) == (78.1, 88.3)


def test_166_against_153_of_198_is_a_range_of_what_the_margins_allow():
    found = compare_margins(166, 153, 198)
    assert found.difference == pytest.approx(13 / 198)
    # 13 more is the least; at most all 45 that the reader missed were right for the model
    assert found.a_only == (13, 45)
    assert found.p_exact == pytest.approx((mcnemar(13, 0)[0], mcnemar(45, 32)[0]))
    assert found.p_exact[0] < 0.001
    assert found.p_exact[1] > 0.05
    assert found.low[0] == pytest.approx(tango(45, 32, 198)[0])
    assert found.high[0] == pytest.approx(tango(13, 0, 198)[1])
    assert "not known" in found.note


def test_the_errors_of_the_expert_review_have_shares_and_intervals():
    # ReXVQA section 3.3: of 120 questions 13, 8, 6 and 4
    printed = {13: (10.8, 6.4, 17.7), 8: (6.7, 3.4, 12.6), 6: (5.0, 2.3, 10.5), 4: (3.3, 1.3, 8.3)}
    for count, wanted in printed.items():
        found = wilson(count, 120)
        shares = tuple(round(100 * each, 1) for each in (found.estimate, found.low, found.high))
        assert shares == pytest.approx(wanted, abs=0.11), count


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="199 and 153 of 198"):
        compare_margins(199, 153, 198)


# ------------------------------------------------------------------------------------------------ three and
# more


def test_holm_by_hand():
    # .01 x 3, then .02 x 2 = .04, then max(.04, .03 x 1)
    assert holm([0.03, 0.01, None, 0.02]) == pytest.approx([0.04, 0.03, None, 0.04])


def test_cochran_q_of_two_raters_is_mcnemars_chi_square():
    right = np.array([[1, 0]] * 9 + [[0, 1]] * 3 + [[1, 1]] * 5) == 1
    q, degrees, p = cochran_q(right)
    assert (q, p) == pytest.approx((3, chi2.sf(3, 1)))  # (9 - 3)^2 / (9 + 3)
    assert degrees == 1


def test_raters_whom_no_question_divides_have_no_q():
    assert cochran_q(np.ones((5, 3), dtype=bool)) == (None, 2, 1.0)
    assert cochran_q(np.ones((0, 3), dtype=bool)) == (None, 2, None)


def test_an_unpaired_difference_holds_newcombes_published_example():
    # Newcombe 1998, 56/70 against 48/80: .0524 to .3339
    assert newcombe_unpaired(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@pytest.mark.parametrize(
    "interval", [lambda: newcombe_paired(0, 0, 0, 0), lambda: newcombe_unpaired(0, 0, 1, 2)]
)
def test_a_difference_without_a_question_has_no_interval(interval):
    with pytest.raises(ValueError, match="without a question"):
        interval()
