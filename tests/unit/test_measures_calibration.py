"""Calibration of stated probabilities, and its reliability diagram."""

from __future__ import annotations

import numpy as np
import pytest

from domain.errors import Refused
from measures.all_measures import compute_measures
from measures.calibration import measure_calibration
from tests.unit.measure_helpers import NO_BOOTSTRAP, make_ratings


def simulate_answers(n=2000, *, seed=1, shift=0.0):
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.3, 1.0, n)
    return confidence, rng.random(n) < np.clip(confidence - shift, 0, 1)


def test_the_calibration_error_equals_the_hand_calculation():
    # bin .5 to .6: mean .55, accuracy .5, n 2; bin .9 to 1: mean .95, accuracy 1, n 2
    result = measure_calibration(np.array([0.54, 0.56, 0.9, 1.0]), np.array([True, False, True, True]))
    assert result.ece == pytest.approx((2 * 0.05 + 2 * 0.05) / 4)
    assert result.brier == pytest.approx((0.46**2 + 0.56**2 + 0.1**2 + 0) / 4)
    assert [(bin_.lower, bin_.share.count, bin_.share.n) for bin_ in result.bins] == [
        (0.5, 1, 2),
        (0.9, 2, 2),
    ]


def test_a_calibrated_rater_has_the_expected_error():
    result = measure_calibration(*simulate_answers())
    assert result.ece == pytest.approx(result.expected_if_calibrated, abs=0.015)
    assert result.low < 0.01


def test_an_overconfident_rater_is_above_the_expected_error():
    result = measure_calibration(*simulate_answers(shift=0.1))
    assert result.low < 0.1 < result.high
    assert result.low > result.expected_if_calibrated


@pytest.mark.parametrize("shift", [0.02, 0.05, 0.1, 0.2])
def test_the_interval_covers_the_true_error(shift):
    # All bins are off by the shift, which is thus the true error; 200 samples of 400.
    covered = sum(
        result.low <= shift <= result.high
        for result in (
            measure_calibration(*simulate_answers(400, seed=seed, shift=shift)) for seed in range(200)
        )
    )
    assert covered >= 180  # 190 expected at .95; fewer than 180 have a probability below .005


def test_the_expected_error_of_a_calibrated_rater_equals_a_simulation():
    confidence, _ = simulate_answers(100)
    rng = np.random.default_rng(8)
    simulated = [measure_calibration(confidence, rng.random(100) < confidence).ece for _ in range(300)]
    expected = measure_calibration(confidence, np.ones(100, dtype=bool)).expected_if_calibrated
    assert expected == pytest.approx(np.mean(simulated), rel=0.05)


def test_answers_that_occur_four_times_in_a_cluster_add_no_evidence():
    confidence, correct = simulate_answers(200, shift=0.1)
    clusters = np.repeat(np.arange(200), 4)
    single = measure_calibration(confidence, correct)
    clustered = measure_calibration(np.repeat(confidence, 4), np.repeat(correct, 4), clusters=clusters)
    assert clustered.ece == pytest.approx(single.ece)
    assert clustered.high - clustered.low == pytest.approx(single.high - single.low, rel=0.01)


def test_without_answers_nothing_is_defined():
    assert measure_calibration(np.zeros(0), np.zeros(0, dtype=bool)).note.startswith("not defined")
    assert measure_calibration(np.array([0.5]), np.array([True])).note == "no interval: one question only"


def test_the_table_of_ratings_gives_a_result_for_each_rater_and_task():
    table = make_ratings({"ref": "ABAB", "m1": "ABBB", "r1": "ABAB"}, task="xxyy")
    table["probability"] = [""] * 4 + ["0.9", "0.8", "0.7", "0.6"] + [""] * 4
    measures = compute_measures(table, settings=NO_BOOTSTRAP)
    assert [(row.rater, row.task, row.n) for row in measures.calibration] == [
        ("m1", "all", 4), ("m1", "x", 2), ("m1", "y", 2),
    ]  # fmt: skip
    assert sum(row.n for row in measures.reliability if row.task == "all") == 4


def test_a_probability_above_1_is_refused():
    table = make_ratings({"ref": "A", "m1": "A"}).assign(probability=["", "80"])
    with pytest.raises(Refused, match="line 3: probability '80': must be 0 to 1 or empty"):
        compute_measures(table)
