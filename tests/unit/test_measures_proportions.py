"""Wilson's interval, alone and by exam."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from measures.proportions import wilson, wilson_by_cluster


@pytest.mark.parametrize(("count", "percent"), [(13, 10.8), (8, 6.7), (6, 5.0), (4, 3.3)])
def test_the_kinds_of_error_of_120_reviewed_questions_as_rexvqa_prints_them(count, percent):
    assert round(100 * wilson(count, 120).estimate, 1) == percent


@given(
    st.integers(1, 50_000).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n + 1))),
    st.floats(0.5, 0.999),
)
def test_wilson_is_statsmodels(counted, confidence):
    count, n = counted
    found = wilson(count, n, confidence=confidence)
    theirs = proportion_confint(count, n, alpha=1 - confidence, method="wilson")
    assert (found.low, found.high) == theirs  # to the last digit: exported figures must not change


def test_wilson_by_hand():
    # p = 13/120, z = 1.959964: centre (p + z²/2n) / (1 + z²/n), reach z sqrt(p(1-p)/n + z²/4n²) / (1 + z²/n)
    z, n, p = 1.959963985, 120, 13 / 120
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    found = wilson(13, 120)
    assert (found.low, found.high) == pytest.approx((centre - reach, centre + reach))
    assert (round(found.low, 3), round(found.high, 3)) == (0.064, 0.177)


def test_none_of_n_still_has_an_upper_bound():
    found = wilson(0, 120)
    assert (found.estimate, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(0.0310, abs=5e-4)


def test_nothing_counted_is_not_defined():
    found = wilson(0, 0)
    assert (found.estimate, found.low, found.high) == (None, None, None)
    assert "not defined" in found.note


def test_more_hits_than_questions_is_a_mistake():
    with pytest.raises(ValueError, match="5 of 4"):
        wilson(5, 4)


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_one_question_an_exam_is_plain_wilson(hits):
    by_exam = wilson_by_cluster(hits, range(len(hits)))
    plain = wilson(sum(hits), len(hits))
    assert (by_exam.low, by_exam.high) == pytest.approx((plain.low, plain.high))


def test_questions_of_one_exam_that_err_together_widen_the_interval():
    hits = [True] * 4 + [False] * 36  # ten exams of four questions; one exam is all wrong
    together = wilson_by_cluster(hits, [place // 4 for place in range(40)])
    plain = wilson(4, 40)
    assert together.estimate == plain.estimate
    assert together.low < plain.low
    assert together.high > plain.high


@given(st.lists(st.booleans(), min_size=4, max_size=60), st.integers(1, 5))
def test_clusters_never_narrow_the_interval_and_it_holds_the_estimate(hits, size):
    found = wilson_by_cluster(hits, [place // size for place in range(len(hits))])
    plain = wilson(sum(hits), len(hits))
    assert found.low <= plain.low + 1e-12
    assert found.high >= plain.high - 1e-12
    assert found.low - 1e-12 <= found.estimate <= found.high + 1e-12


def test_one_exam_only_says_so():
    assert "one exam" in wilson_by_cluster([True, False, True], [7, 7, 7]).note


def test_none_and_all_have_a_limit_of_exactly_0_and_1():
    # not 1e-18, a rounding residue
    assert [wilson(0, n).low for n in (7, 200, 1290)] == [0.0] * 3
    assert [wilson(n, n).high for n in (7, 200, 1290)] == [1.0] * 3
