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

LEFT_BOX, RIGHT_BOX, FAR_BOX = [0, 0, 10, 10], [20, 0, 30, 10], [100, 100, 110, 110]
coordinates = st.integers(0, 40)
boxes = st.tuples(coordinates, coordinates, st.integers(1, 20), st.integers(1, 20)).map(
    lambda corner_and_size: [
        corner_and_size[0],
        corner_and_size[1],
        corner_and_size[0] + corner_and_size[2],
        corner_and_size[1] + corner_and_size[3],
    ]
)

# ------------------------------------------------------------------------------------------------- boxes


def test_overlap_equals_the_hand_calculation():
    # 5 x 10 in common, 100 + 100 - 50 in all
    assert iou([LEFT_BOX], [[5, 0, 15, 10]])[0, 0] == pytest.approx(50 / 150)


def test_a_missed_box_lowers_the_score():
    match = match_boxes([LEFT_BOX, RIGHT_BOX], [LEFT_BOX])
    assert (match.per_match, match.per_truth, match.score) == (1.0, 0.5, 0.5)


def test_additional_predicted_boxes_lower_the_score():
    match = match_boxes([LEFT_BOX], [FAR_BOX, LEFT_BOX, RIGHT_BOX])
    assert (match.per_match, match.per_truth) == (1.0, 1.0)
    assert match.score == pytest.approx(1 / 3)


def test_the_matching_is_optimal_and_not_greedy():
    # greedy takes (0, 0) at .60 and leaves .05; the best takes .55 + .50
    truth = [[0, 0, 100, 10], [40, 0, 100, 10]]
    predicted = [[40, 0, 100, 10], [0, 0, 55, 10]]
    ious = iou(truth, predicted)
    match = match_boxes(truth, predicted)
    assert sum(overlap for _, _, overlap in match.pairs) == pytest.approx(ious[0, 1] + ious[1, 0])


def test_overlap_without_any_box_is_not_defined():
    assert match_boxes([], []).score is None


def test_overlap_is_0_without_boxes_on_one_side():
    assert (match_boxes([LEFT_BOX], []).score, match_boxes([], [LEFT_BOX]).score) == (0.0, 0.0)
    assert match_boxes([LEFT_BOX], []).per_match is None


def test_an_empty_box_is_refused():
    with pytest.raises(ValueError, match="must have an area"):
        match_boxes([[5, 5, 5, 9]], [LEFT_BOX])


@given(st.lists(boxes, max_size=4), st.lists(boxes, max_size=4))
def test_overlap_is_between_0_and_1_and_symmetric(truth, predicted):
    match, swapped = match_boxes(truth, predicted), match_boxes(predicted, truth)
    if match.score is None:
        return
    assert 0 <= match.score <= 1 + 1e-12
    assert match.score == pytest.approx(swapped.score)


@given(st.lists(boxes, min_size=1, max_size=4))
def test_boxes_match_themselves(truth):
    assert match_boxes(truth, truth).score == pytest.approx(1.0)


def test_the_mean_overlap_excludes_questions_without_a_box():
    match = mean_overlap(
        [match_boxes([LEFT_BOX], [LEFT_BOX]), match_boxes([], []), match_boxes([LEFT_BOX], [FAR_BOX])], seed=1
    )
    assert (match.n, match.score) == (2, 0.5)


def test_mean_overlap_resamples_whole_exams():
    overlaps = [match_boxes([LEFT_BOX], [LEFT_BOX if index < 20 else FAR_BOX]) for index in range(40)]
    unclustered = mean_overlap(overlaps, seed=1)
    clustered = mean_overlap(overlaps, clusters=np.repeat(np.arange(8), 5).tolist(), seed=1)
    assert clustered.high - clustered.low > 1.5 * (unclustered.high - unclustered.low)


# ------------------------------------------------------------------------------------------------- strata


def make_strata(*counts):
    """Strata of (size, reviewed, hits[, skipped])."""
    return [
        StratumCount(
            name=f"t{index}", size=stratum[0], reviewed=stratum[1], hits=stratum[2], skipped=(*stratum, 0)[3]
        )
        for index, stratum in enumerate(counts)
    ]


def test_the_weighted_rate_differs_from_the_pooled_rate():
    # 700 x 1/25 + 200 x 3/25 + 80 x 6/25 + 9 of 1,000
    rate = stratified_rate(make_strata((700, 25, 1), (200, 25, 3), (80, 25, 6), (20, 20, 9)), seed=1)
    assert rate.estimate == pytest.approx(0.0802)
    assert rate.unweighted == pytest.approx(0.2)
    assert rate.low < 0.0802 < rate.high


def test_a_fully_judged_population_has_no_sampling_error():
    rate = stratified_rate(make_strata((20, 20, 9), (10, 10, 0)), seed=1)
    assert (rate.estimate, rate.se, rate.low, rate.high) == (0.3, 0.0, 0.3, 0.3)


def test_one_large_stratum_has_the_jeffreys_interval():
    rate = stratified_rate(make_strata((1_000_000, 200, 13)), seed=1, draws=100_000)
    expected = proportion_confint(13, 200, method="jeffreys")
    assert (rate.low, rate.high) == pytest.approx(expected, abs=0.001)


def test_an_unjudged_stratum_leaves_the_rate_undefined():
    rate = stratified_rate(make_strata((100, 10, 1), (50, 0, 0)), seed=1)
    assert rate.estimate is None
    assert rate.note == "not defined: nothing judged in t1"


def test_skipped_questions_give_bounds():
    # all 2 skipped right, or both wrong: 1/10 to 3/10
    rate = stratified_rate(make_strata((100, 8, 1, 2)), seed=1)
    assert rate.bounds == (0.1, 0.3)
    assert rate.estimate == 0.125


def test_without_skipped_questions_there_are_no_bounds():
    assert stratified_rate(make_strata((100, 10, 1)), seed=1).bounds is None


def test_the_exam_design_effect_widens_the_interval():
    hits, stratum = [True] * 4 + [False] * 16, [0] * 20
    design_effect = exam_design_effect(hits, stratum, [index // 4 for index in range(20)], [5.0] * 20)
    assert design_effect == pytest.approx(4.0)
    unclustered, clustered = (
        stratified_rate(make_strata((100, 20, 4)), seed=1, design_effect=design_effect)
        for design_effect in (1.0, design_effect)
    )
    assert clustered.high - clustered.low > 1.3 * (unclustered.high - unclustered.low)
    assert clustered.se == pytest.approx(2 * unclustered.se)


def test_one_question_per_exam_has_design_effect_1():
    assert exam_design_effect([True, False, True], [0, 0, 0], [1, 2, 3], [1.0] * 3) == 1.0


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="stratum t0: contradictory counts"):
        make_strata((10, 4, 5))


# ------------------------------------------------------------------------------------------------ intraclass


def test_raters_who_agree_have_an_intraclass_correlation_of_1():
    correlations = intraclass(np.repeat(np.arange(6.0)[:, None], 3, axis=1))
    assert [correlation.estimate for correlation in correlations] == pytest.approx([1.0] * 6)


def test_intraclass_excludes_incompletely_rated_questions():
    ratings = np.array([[1.0, 2.0], [3.0, 3.0], [5.0, np.nan], [4.0, 6.0]])
    assert intraclass(ratings)[0].n == 3


def test_identical_ratings_have_no_intraclass_correlation():
    correlations = intraclass(np.ones((5, 3)))
    assert {correlation.estimate for correlation in correlations} == {None}
    assert correlations[0].note == "not defined: all ratings are equal"
