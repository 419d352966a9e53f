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


def readings(seed=1, cases=60, readers=4):
    """Correctness of readers (cases, readers) and of a model (cases,)."""
    random = np.random.default_rng(seed)
    easy = random.standard_normal((cases, 1))
    right = easy + random.standard_normal((cases, readers)) > -0.8
    model = easy[:, 0] + random.standard_normal(cases) > -1.2
    return right.astype(float), model.astype(float)


def test_fully_crossed_the_u_statistic_is_obuchowski_and_rockettes():
    right, model = readings()
    differences = right - model[:, None]
    classic = obuchowski_rockette(
        differences.mean(axis=0), covariance_over_cases(differences), cases=len(differences)
    )
    unbiased = u_statistic(differences)
    assert unbiased.se == pytest.approx(classic.se)
    assert unbiased.df == pytest.approx(classic.df)
    assert (unbiased.low, unbiased.high) == pytest.approx((classic.low, classic.high))


def test_the_u_statistic_is_unbiased_by_brute_force():
    # each pair of readings without common parts estimates the square of the true difference
    right, model = readings(cases=7, readers=3)
    differences = right - model[:, None]
    differences[0, 1] = differences[3, 2] = np.nan
    places = [(case, reader) for case, reader in np.ndindex(7, 3) if not np.isnan(differences[case, reader])]
    apart = np.mean(
        [differences[a] * differences[b] for a in places for b in places if a[0] != b[0] and a[1] != b[1]]
    )
    expected = np.nanmean(differences) ** 2 - apart
    found = u_statistic(differences)
    if expected > 0:
        assert found.se**2 == pytest.approx(expected)
    else:
        assert "V-statistic" in found.note


def test_a_crossed_design_takes_obuchowski_rockette_and_a_partial_one_the_u_statistic():
    right, model = readings()
    assert compare_with_model(right, model).method == "Obuchowski-Rockette"
    right[:30, 0] = np.nan
    assert compare_with_model(right, model).method == "U-statistic"


def test_random_readers_are_less_certain_than_fixed_ones_who_differ():
    right, model = readings(readers=3)
    right[:, 0] = 1.0
    random, fixed = (compare_with_model(right, model, random_readers=each) for each in (True, False))
    assert random.difference == pytest.approx(fixed.difference)
    assert random.high - random.low > fixed.high - fixed.low


def test_fixed_readers_by_hand():
    # one reader: the standard error of a mean of paired differences
    right, model = readings(readers=1)
    step = right[:, 0] - model
    found = fixed_reader_analysis(step[:, None])
    assert found.se == pytest.approx(step.std(ddof=1) / np.sqrt(len(step)))
    assert found.df == len(step) - 1


def test_one_reader_tells_nothing_of_others():
    right, model = readings(readers=1)
    found = compare_with_model(right, model)
    assert (found.se, found.low) == (None, None)
    assert found.note == "no interval: one reader tells nothing of others"
    assert compare_with_model(right, model, random_readers=False).se is not None


def test_every_case_twice_under_one_exam_is_no_more_evidence():
    right, model = readings()
    once = compare_with_model(right, model)
    twice = compare_with_model(
        np.repeat(right, 2, axis=0), np.repeat(model, 2), exams=np.repeat(np.arange(len(model)), 2)
    )
    assert twice.se == pytest.approx(once.se)


def test_cases_that_the_model_did_not_answer_are_left_out():
    right, model = readings()
    fewer = model.copy()
    fewer[:10] = np.nan
    assert compare_with_model(right, fewer) == compare_with_model(right[10:], model[10:])


def test_readers_who_are_the_model_have_no_interval():
    _, model = readings()
    found = compare_with_model(np.repeat(model[:, None], 3, axis=1), model)
    assert (found.difference, found.se, found.low) == (0.0, 0.0, None)


def test_nothing_read_is_not_defined():
    assert compare_with_model(np.full((3, 2), np.nan), np.ones(3)).difference is None


@pytest.mark.parametrize("margin", [-0.4, 0.0, 0.4])
def test_a_margin_is_held_against_the_same_interval(margin):
    right, model = readings()
    found = compare_with_model(right, model)
    assert -0.4 < found.low < found.high < 0.4
    assert found.is_above(margin) is (found.low > margin)
    assert found.is_below(margin) is (found.high < margin)


def test_without_an_interval_nothing_is_shown_against_a_margin():
    right, model = readings(readers=1)
    found = compare_with_model(right, model)
    assert (found.is_above(0.0), found.is_below(0.0)) == (None, None)
