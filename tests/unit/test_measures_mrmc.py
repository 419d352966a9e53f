"""Readers against one model: standard errors, designs, and random or fixed readers."""

from __future__ import annotations

import numpy as np
import pytest

from measures.mrmc import (
    compare_with_model,
    covariance_over_cases,
    fixed_reader_analysis,
    obuchowski_rockette,
    u_statistic,
)


def simulate_readings(seed=1, cases=60, readers=4):
    """Correctness of readers (cases, readers) and of a model (cases,)."""
    rng = np.random.default_rng(seed)
    case_easiness = rng.standard_normal((cases, 1))
    correct = case_easiness + rng.standard_normal((cases, readers)) > -0.8
    model = case_easiness[:, 0] + rng.standard_normal(cases) > -1.2
    return correct.astype(float), model.astype(float)


def test_the_u_statistic_equals_obuchowski_rockette_if_fully_crossed():
    correct, model = simulate_readings()
    differences = correct - model[:, None]
    obuchowski_rockette_result = obuchowski_rockette(
        differences.mean(axis=0), covariance_over_cases(differences), cases=len(differences)
    )
    u_statistic_result = u_statistic(differences)
    assert u_statistic_result.se == pytest.approx(obuchowski_rockette_result.se)
    assert u_statistic_result.df == pytest.approx(obuchowski_rockette_result.df)
    assert (u_statistic_result.low, u_statistic_result.high) == pytest.approx(
        (obuchowski_rockette_result.low, obuchowski_rockette_result.high)
    )


def test_the_u_statistic_equals_a_brute_force_calculation():
    # each pair of readings that shares neither case nor reader estimates the squared true difference
    correct, model = simulate_readings(cases=7, readers=3)
    differences = correct - model[:, None]
    differences[0, 1] = differences[3, 2] = np.nan
    observed_cells = [
        (case, reader) for case, reader in np.ndindex(7, 3) if not np.isnan(differences[case, reader])
    ]
    mean_product = np.mean(
        [
            differences[a] * differences[b]
            for a in observed_cells
            for b in observed_cells
            if a[0] != b[0] and a[1] != b[1]
        ]
    )
    expected = np.nanmean(differences) ** 2 - mean_product
    comparison = u_statistic(differences)
    if expected > 0:
        assert comparison.se**2 == pytest.approx(expected)
    else:
        assert "V-statistic" in comparison.note


def test_the_method_depends_on_whether_readings_are_fully_crossed():
    correct, model = simulate_readings()
    assert compare_with_model(correct, model).method == "Obuchowski-Rockette"
    correct[:30, 0] = np.nan
    assert compare_with_model(correct, model).method == "U-statistic"


def test_random_readers_have_a_wider_interval_than_fixed_ones():
    correct, model = simulate_readings(readers=3)
    correct[:, 0] = 1.0
    random_readers, fixed_readers = (
        compare_with_model(correct, model, random_readers=is_random) for is_random in (True, False)
    )
    assert random_readers.difference == pytest.approx(fixed_readers.difference)
    assert random_readers.high - random_readers.low > fixed_readers.high - fixed_readers.low


def test_fixed_readers_equal_the_hand_calculation():
    # one reader: the standard error of a mean of paired differences
    correct, model = simulate_readings(readers=1)
    differences = correct[:, 0] - model
    comparison = fixed_reader_analysis(differences[:, None])
    assert comparison.se == pytest.approx(differences.std(ddof=1) / np.sqrt(len(differences)))
    assert comparison.df == len(differences) - 1


def test_one_random_reader_has_no_interval():
    correct, model = simulate_readings(readers=1)
    comparison = compare_with_model(correct, model)
    assert (comparison.se, comparison.low) == (None, None)
    assert comparison.note == "no interval: only one reader"
    assert compare_with_model(correct, model, random_readers=False).se is not None


def test_duplicate_cases_in_one_exam_add_no_evidence():
    correct, model = simulate_readings()
    single = compare_with_model(correct, model)
    duplicated = compare_with_model(
        np.repeat(correct, 2, axis=0), np.repeat(model, 2), clusters=np.repeat(np.arange(len(model)), 2)
    )
    assert duplicated.se == pytest.approx(single.se)


def test_cases_without_a_model_answer_are_excluded():
    correct, model = simulate_readings()
    incomplete_model = model.copy()
    incomplete_model[:10] = np.nan
    assert compare_with_model(correct, incomplete_model) == compare_with_model(correct[10:], model[10:])


def test_readers_identical_to_the_model_have_no_interval():
    _, model = simulate_readings()
    comparison = compare_with_model(np.repeat(model[:, None], 3, axis=1), model)
    assert (comparison.difference, comparison.se, comparison.low) == (0.0, 0.0, None)


def test_a_comparison_without_readings_is_not_defined():
    assert compare_with_model(np.full((3, 2), np.nan), np.ones(3)).difference is None


@pytest.mark.parametrize("margin", [-0.4, 0.0, 0.4])
def test_a_margin_is_compared_with_the_interval(margin):
    correct, model = simulate_readings()
    comparison = compare_with_model(correct, model)
    assert -0.4 < comparison.low < comparison.high < 0.4
    assert comparison.is_above(margin) is (comparison.low > margin)
    assert comparison.is_below(margin) is (comparison.high < margin)


def test_without_an_interval_no_margin_is_decided():
    correct, model = simulate_readings(readers=1)
    comparison = compare_with_model(correct, model)
    assert (comparison.is_above(0.0), comparison.is_below(0.0)) == (None, None)
