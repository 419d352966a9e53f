"""Overlap of boxes with three denominators, estimates from stratified samples, and intraclass correlation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from measures.boxes import iou, match_boxes, mean_overlap
from measures.intraclass import intraclass
from measures.strata import StratumCount, cluster_design_effect, stratified_limits, stratified_rate

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
    # greedy takes the highest overlap, 80 / 120, and leaves 0; the best takes 50 / 150 + 70 / 130
    truth = [[100, 0, 200, 10], [150, 0, 250, 10]]
    predicted = [[120, 0, 220, 10], [50, 0, 150, 10]]
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
    # (700 x 1/25 + 200 x 3/25 + 80 x 6/25 + 9) / 1,000
    rate = stratified_rate(make_strata((700, 25, 1), (200, 25, 3), (80, 25, 6), (20, 20, 9)))
    assert rate.estimate == pytest.approx(0.0802)
    assert rate.unweighted == pytest.approx(0.2)
    assert rate.low < 0.0802 < rate.high


def test_a_fully_judged_population_has_no_sampling_error():
    rate = stratified_rate(make_strata((20, 20, 9), (10, 10, 0)))
    assert (rate.estimate, rate.se, rate.low, rate.high) == (0.3, 0.0, 0.3, 0.3)


@pytest.mark.parametrize("hits", [0, 1, 13, 199, 200])
def test_one_large_stratum_has_clopper_and_pearsons_interval(hits):
    rate = stratified_rate(make_strata((10**9, 200, hits)))
    expected = proportion_confint(hits, 200, method="beta")
    assert (rate.low, rate.high) == pytest.approx(expected, rel=0.02)


def test_many_strata_give_nearly_the_interval_of_their_union():
    # Jeffreys' prior in each stratum gave [3.03 %, 5.42 %], with the estimate at the lower limit
    one = stratified_rate(make_strata((36 * 333, 36 * 33, 36)))
    many = stratified_rate(make_strata(*[(333, 33, 1)] * 36))
    assert (many.low, many.high) == pytest.approx((one.low, one.high), abs=0.0005)


@given(
    st.lists(
        st.integers(1, 40).flatmap(
            lambda reviewed: st.tuples(
                st.integers(reviewed + 1, 3000), st.just(reviewed), st.integers(0, reviewed)
            )
        ),
        min_size=1,
        max_size=12,
    ),
    st.floats(1, 4),
)
@pytest.mark.slow
def test_the_estimate_is_strictly_inside_its_interval(counts, effect):
    rate = stratified_rate(make_strata(*counts), design_effect=effect)
    hits, reviewed = (sum(stratum[index] for stratum in counts) for index in (2, 1))
    assert 0 <= rate.low <= rate.estimate <= rate.high <= 1
    assert hits in (0, reviewed) or rate.low < rate.estimate < rate.high
    mirrored = stratified_rate(
        make_strata(*[(size, n, n - hits) for size, n, hits in counts]), design_effect=effect
    )
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((rate.low, rate.high), abs=1e-9)


def test_the_limits_contain_the_observed_hits_and_misses():
    # 30 hits are certain; at most 220 of the 300 questions can be hits, because 80 misses were observed
    rate = stratified_rate(make_strata((100, 100, 30), (200, 10, 0)))
    assert rate.low == rate.estimate == 0.1
    assert 0.1 < rate.high <= (300 - 70 - 10) / 300


def test_many_samples_at_once_have_the_limits_of_single_samples():
    reviewed, sizes = np.array([25, 25, 20]), np.array([700, 200, 20])
    hits = np.array([[1, 3, 9], [0, 0, 0], [25, 25, 20]])
    low, high = stratified_limits(hits, reviewed, sizes)
    for sample, limits in zip(hits, zip(low, high, strict=True), strict=True):
        rate = stratified_rate(make_strata(*zip(sizes, reviewed, sample, strict=True)))
        assert (rate.low, rate.high) == limits


def test_an_unjudged_stratum_leaves_the_rate_undefined():
    rate = stratified_rate(make_strata((100, 10, 1), (50, 0, 0)))
    assert rate.estimate is None
    assert rate.note == "not defined: nothing judged in t1"


def test_skipped_questions_give_bounds():
    # neither of the 2 skipped questions is a hit, or both are: 1/10 to 3/10
    rate = stratified_rate(make_strata((100, 8, 1, 2)))
    assert rate.bounds == (0.1, 0.3)
    assert rate.estimate == 0.125


def test_without_skipped_questions_there_are_no_bounds():
    assert stratified_rate(make_strata((100, 10, 1))).bounds is None


def test_the_cluster_design_effect_widens_the_interval():
    hits, stratum = [True] * 4 + [False] * 16, [0] * 20
    design_effect = cluster_design_effect(hits, stratum, [index // 4 for index in range(20)], [5.0] * 20)
    # 4 x (5 / 4) / (20 / 19) by the variances, weighted with the 4 hits; 4 by the prior, with half a hit
    assert design_effect == pytest.approx((4 * 4.75 + 0.5 * 4) / 4.5)
    unclustered, clustered = (
        stratified_rate(make_strata((100, 20, 4)), design_effect=design_effect)
        for design_effect in (1.0, design_effect)
    )
    assert clustered.high - clustered.low > 1.3 * (unclustered.high - unclustered.low)
    assert clustered.se == pytest.approx(design_effect**0.5 * unclustered.se)


def test_without_a_hit_the_questions_of_an_exam_are_treated_as_identical():
    design_effect = cluster_design_effect(
        [False] * 20, [0] * 20, [index // 4 for index in range(20)], [5.0] * 20
    )
    assert design_effect == 4.0


def test_one_question_per_exam_has_design_effect_1():
    assert cluster_design_effect([True, False, True], [0, 0, 0], [1, 2, 3], [1.0] * 3) == 1.0


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
