"""Wilson's interval, alone and by exam."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from measures.proportions import wilson, wilson_by_cluster


@pytest.mark.parametrize(("count", "percent"), [(13, 10.8), (8, 6.7), (6, 5.0), (4, 3.3)])
def test_error_shares_of_120_questions_equal_those_of_rexvqa(count, percent):
    assert round(100 * wilson(count, 120).estimate, 1) == percent


@given(
    st.integers(1, 50_000).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n + 1))),
    st.floats(0.5, 0.999),
)
def test_wilson_equals_statsmodels(counted, confidence):
    count, n = counted
    proportion = wilson(count, n, confidence=confidence)
    expected = proportion_confint(count, n, alpha=1 - confidence, method="wilson")
    assert (
        proportion.low,
        proportion.high,
    ) == expected  # to the last digit: exported figures must not change


def test_wilson_equals_the_hand_calculation():
    # p = 13/120, z = 1.959964: centre (p + z²/2n) / (1 + z²/n),
    # half-width z sqrt(p(1-p)/n + z²/4n²) / (1 + z²/n)
    z, n, p = 1.959963985, 120, 13 / 120
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half_width = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    proportion = wilson(13, 120)
    assert (proportion.low, proportion.high) == pytest.approx((centre - half_width, centre + half_width))
    assert (round(proportion.low, 3), round(proportion.high, 3)) == (0.064, 0.177)


def test_a_count_of_0_has_an_upper_bound():
    proportion = wilson(0, 120)
    assert (proportion.estimate, proportion.low) == (0.0, 0.0)
    assert proportion.high == pytest.approx(0.0310, abs=5e-4)


def test_a_proportion_of_0_questions_is_not_defined():
    proportion = wilson(0, 0)
    assert (proportion.estimate, proportion.low, proportion.high) == (None, None, None)
    assert "not defined" in proportion.note


def test_more_hits_than_questions_are_refused():
    with pytest.raises(ValueError, match="must be 0 to 4, not 5"):
        wilson(5, 4)


@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_one_question_per_exam_gives_the_plain_wilson_interval(hits):
    by_exam = wilson_by_cluster(hits, range(len(hits)))
    unclustered = wilson(sum(hits), len(hits))
    assert (by_exam.low, by_exam.high) == pytest.approx((unclustered.low, unclustered.high))


def test_errors_clustered_by_exam_widen_the_interval():
    hits = [True] * 4 + [False] * 36  # ten exams of four questions; one exam is all wrong
    clustered = wilson_by_cluster(hits, [index // 4 for index in range(40)])
    unclustered = wilson(4, 40)
    assert clustered.estimate == unclustered.estimate
    assert clustered.low < unclustered.low
    assert clustered.high > unclustered.high


@given(st.lists(st.booleans(), min_size=4, max_size=60), st.integers(1, 5))
def test_clusters_never_narrow_the_interval(hits, size):
    clustered = wilson_by_cluster(hits, [index // size for index in range(len(hits))])
    unclustered = wilson(sum(hits), len(hits))
    assert clustered.low <= unclustered.low + 1e-12
    assert clustered.high >= unclustered.high - 1e-12
    assert clustered.low - 1e-12 <= clustered.estimate <= clustered.high + 1e-12


def test_a_single_exam_has_a_note():
    assert "one exam" in wilson_by_cluster([True, False, True], [7, 7, 7]).note


def test_0_percent_and_100_percent_have_an_exact_limit():
    # not 1e-18, a rounding residue
    assert [wilson(0, n).low for n in (7, 200, 1290)] == [0.0] * 3
    assert [wilson(n, n).high for n in (7, 200, 1290)] == [1.0] * 3
