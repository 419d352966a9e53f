"""Overlap of boxes with three denominators, estimates from stratified samples, and intraclass correlation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from measures.boxes import iou, match_boxes, mean_overlap
from measures.intraclass import intraclass
from measures.strata import StratumCount, exam_design_effect, stratified_rate

LEFT, RIGHT, FAR = [0, 0, 10, 10], [20, 0, 30, 10], [100, 100, 110, 110]
places = st.integers(0, 40)
boxes = st.tuples(places, places, st.integers(1, 20), st.integers(1, 20)).map(
    lambda it: [it[0], it[1], it[0] + it[2], it[1] + it[3]]
)

# ------------------------------------------------------------------------------------------------- boxes


def test_overlap_by_hand():
    # 5 x 10 in common, 100 + 100 - 50 in all
    assert iou([LEFT], [[5, 0, 15, 10]])[0, 0] == pytest.approx(50 / 150)


def test_two_truths_and_one_perfect_prediction():
    found = match_boxes([LEFT, RIGHT], [LEFT])
    assert (found.per_match, found.per_truth, found.score) == (1.0, 0.5, 0.5)


def test_one_truth_and_three_predictions():
    found = match_boxes([LEFT], [FAR, LEFT, RIGHT])
    assert (found.per_match, found.per_truth) == (1.0, 1.0)
    assert found.score == pytest.approx(1 / 3)


def test_the_matching_is_the_best_and_not_the_greedy_one():
    # greedy takes (0, 0) at .60 and leaves .05; the best takes .55 + .50
    truth = [[0, 0, 100, 10], [40, 0, 100, 10]]
    predicted = [[40, 0, 100, 10], [0, 0, 55, 10]]
    overlaps = iou(truth, predicted)
    found = match_boxes(truth, predicted)
    assert sum(overlap for _, _, overlap in found.pairs) == pytest.approx(overlaps[0, 1] + overlaps[1, 0])


def test_no_box_on_either_side_is_not_defined():
    assert match_boxes([], []).score is None


def test_no_box_on_one_side_is_0():
    assert (match_boxes([LEFT], []).score, match_boxes([], [LEFT]).score) == (0.0, 0.0)
    assert match_boxes([LEFT], []).per_match is None


def test_an_empty_box_is_refused():
    with pytest.raises(ValueError, match="empty box"):
        match_boxes([[5, 5, 5, 9]], [LEFT])


@given(st.lists(boxes, max_size=4), st.lists(boxes, max_size=4))
def test_overlap_is_between_0_and_1_and_has_no_order(truth, predicted):
    one, other = match_boxes(truth, predicted), match_boxes(predicted, truth)
    if one.score is None:
        return
    assert 0 <= one.score <= 1 + 1e-12
    assert one.score == pytest.approx(other.score)


@given(st.lists(boxes, min_size=1, max_size=4))
def test_boxes_match_themselves(truth):
    assert match_boxes(truth, truth).score == pytest.approx(1.0)


def test_the_mean_leaves_out_questions_without_a_box():
    found = mean_overlap(
        [match_boxes([LEFT], [LEFT]), match_boxes([], []), match_boxes([LEFT], [FAR])], seed=1
    )
    assert (found.n, found.score) == (2, 0.5)


def test_questions_of_one_exam_are_drawn_together():
    overlaps = [match_boxes([LEFT], [LEFT if at < 20 else FAR]) for at in range(40)]
    alone = mean_overlap(overlaps, seed=1)
    together = mean_overlap(overlaps, clusters=np.repeat(np.arange(8), 5).tolist(), seed=1)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


# ------------------------------------------------------------------------------------------------- strata


def strata(*counts):
    """Strata of (size, reviewed, hits[, skipped])."""
    return [
        StratumCount(name=f"t{at}", size=each[0], reviewed=each[1], hits=each[2], skipped=(*each, 0)[3])
        for at, each in enumerate(counts)
    ]


def test_the_weighted_rate_of_skewed_tiers_is_far_from_the_pool():
    # 700 x 1/25 + 200 x 3/25 + 80 x 6/25 + 9 of 1,000
    found = stratified_rate(strata((700, 25, 1), (200, 25, 3), (80, 25, 6), (20, 20, 9)), seed=1)
    assert found.estimate == pytest.approx(0.0802)
    assert found.unweighted == pytest.approx(0.2)
    assert found.low < 0.0802 < found.high


def test_a_whole_that_was_judged_is_known():
    found = stratified_rate(strata((20, 20, 9), (10, 10, 0)), seed=1)
    assert (found.estimate, found.se, found.low, found.high) == (0.3, 0.0, 0.3, 0.3)


def test_one_large_stratum_has_jeffreys_interval():
    found = stratified_rate(strata((1_000_000, 200, 13)), seed=1, draws=100_000)
    wanted = proportion_confint(13, 200, method="jeffreys")
    assert (found.low, found.high) == pytest.approx(wanted, abs=0.001)


def test_a_stratum_of_which_nothing_was_judged_leaves_the_whole_unknown():
    found = stratified_rate(strata((100, 10, 1), (50, 0, 0)), seed=1)
    assert found.estimate is None
    assert found.note == "not defined: nothing judged in t1"


def test_skipped_questions_are_bounds():
    # all 2 skipped right, or both wrong: 1/10 to 3/10
    found = stratified_rate(strata((100, 8, 1, 2)), seed=1)
    assert found.bounds == (0.1, 0.3)
    assert found.estimate == 0.125


def test_nothing_skipped_no_bounds():
    assert stratified_rate(strata((100, 10, 1)), seed=1).bounds is None


def test_questions_that_share_exams_widen_the_interval():
    hits, stratum = [True] * 4 + [False] * 16, [0] * 20
    effect = exam_design_effect(hits, stratum, [at // 4 for at in range(20)], [5.0] * 20)
    assert effect == pytest.approx(4.0)
    alone, together = (
        stratified_rate(strata((100, 20, 4)), seed=1, design_effect=each) for each in (1.0, effect)
    )
    assert together.high - together.low > 1.3 * (alone.high - alone.low)
    assert together.se == pytest.approx(2 * alone.se)


def test_one_question_an_exam_has_no_effect():
    assert exam_design_effect([True, False, True], [0, 0, 0], [1, 2, 3], [1.0] * 3) == 1.0


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="stratum t0: 5 of 4 of 10"):
        strata((10, 4, 5))


# ------------------------------------------------------------------------------------------------ intraclass


def test_raters_who_agree_have_an_intraclass_correlation_of_1():
    found = intraclass(np.repeat(np.arange(6.0)[:, None], 3, axis=1))
    assert [each.estimate for each in found] == pytest.approx([1.0] * 6)


def test_questions_that_one_rater_left_out_are_not_taken():
    ratings = np.array([[1.0, 2.0], [3.0, 3.0], [5.0, np.nan], [4.0, 6.0]])
    assert intraclass(ratings)[0].n == 3


def test_ratings_all_alike_have_none():
    found = intraclass(np.ones((5, 3)))
    assert {each.estimate for each in found} == {None}
    assert found[0].note == "not defined: ratings all alike"
