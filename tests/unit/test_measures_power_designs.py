"""Power of two arms, split cases and clusters by simulation; precision of kappa."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from domain.errors import InvalidValue
from measures.kappa_precision import cases_for_kappa, expected_kappa_limits
from measures.power import PowerAssumptions, power_by_formula
from measures.power_designs import ArmAssumptions, ReadingDesign, cases_for_design, power_of_design

MODEL = PowerAssumptions(reader_accuracy=0.75, model_accuracy=0.85, spread=0.03)
ARMS = ArmAssumptions(first_accuracy=0.82, second_accuracy=0.75)


def test_without_options_the_power_equals_that_of_the_formula():
    power, error = power_of_design(MODEL, ReadingDesign(), readers=5, cases=200, seed=1, runs=600)
    assert power == pytest.approx(power_by_formula(MODEL, readers=5, cases=200), abs=3 * error + 0.02)


def test_equal_arms_are_significant_as_often_as_alpha():
    equal = replace(ARMS, first_accuracy=0.75)
    power, _ = power_of_design(equal, ReadingDesign(), readers=4, cases=100, seed=2, runs=600)
    assert 0.02 <= power <= 0.085


def test_a_higher_correlation_of_the_same_reader_between_arms_gives_more_power():
    low, high = (
        power_of_design(
            replace(ARMS, same_reader_correlation=correlation),
            ReadingDesign(),
            readers=4,
            cases=120,
            runs=300,
        )[0]
        for correlation in (0.46, 0.9)
    )
    assert high > low + 0.05


def test_the_correlations_of_simulated_arms_equal_the_assumed_ones():
    # One reader and one arm fixed at accuracy one half: the correlation of two answers is 2/pi asin(rho).
    assumptions = replace(ARMS, first_accuracy=0.5, second_accuracy=0.5)
    from measures.power_designs import _simulate

    random, patients = np.random.default_rng(1), np.arange(20_000)
    differences = _simulate(assumptions, ReadingDesign(), random, readers=2, patients=patients)
    same_reader, other_reader = (2 / np.pi * np.arcsin(rho) / 4 for rho in (0.6, 0.45))
    by_arm = 2 / np.pi * np.arcsin(0.5) / 4
    assert differences.var(axis=0) == pytest.approx(2 * (0.25 - same_reader), abs=0.01)
    assert np.cov(differences.T)[0, 1] == pytest.approx(2 * (by_arm - other_reader), abs=0.01)


def test_one_of_four_readers_per_case_gives_less_power():
    full, split = (
        power_of_design(MODEL, ReadingDesign(readers_per_case=count), readers=4, cases=150, runs=200)[0]
        for count in (None, 1)
    )
    assert full > split


def test_cases_of_one_patient_have_less_power_than_independent_cases():
    design = ReadingDesign(cases_per_patient=5, patient_correlation=0.9)
    clustered, _ = power_of_design(MODEL, design, readers=4, cases=150, runs=300)
    independent, _ = power_of_design(MODEL, ReadingDesign(), readers=4, cases=150, runs=300)
    assert independent > clustered


@pytest.mark.slow
def test_the_number_of_cases_reaches_the_power():
    cases = cases_for_design(ARMS, ReadingDesign(), readers=4, runs=300)
    power, _ = power_of_design(ARMS, ReadingDesign(), readers=4, cases=cases, seed=9, runs=600)
    assert power == pytest.approx(0.8, abs=0.07)
    assert cases_for_design(replace(ARMS, first_accuracy=0.755), ReadingDesign(), readers=2, runs=20) is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"first_accuracy": 1.0}, "first_accuracy"),
        ({"arm_spread": 0.5}, "arm_spread"),
        ({"other_correlation": 0.55}, "other_correlation"),
        ({"margin": 0.6}, "margin"),
    ],
)
def test_an_assumption_outside_its_range_is_refused(change, field):
    with pytest.raises(InvalidValue, match=field):
        replace(ARMS, **change)


# ---------------------------------------------------------------------------------- precision of kappa


def size_by_search(kappa, low, high, share):
    """The search that kappaSize's CIBinary describes, for two raters, written out."""

    def probabilities(r):
        spread = share * (1 - share)
        return np.array([(1 - share) ** 2 + r * spread, 2 * (1 - r) * spread, share**2 + r * spread])

    n, critical = 11, chi2.ppf(0.95, 1)
    while any(
        n * np.sum((probabilities(kappa) - probabilities(limit)) ** 2 / probabilities(limit)) < critical
        for limit in (low, high)
    ):
        n += 1
    return n


@pytest.mark.parametrize(
    ("kappa", "share", "half_width"), [(0.4, 0.3, 0.1), (0.6, 0.5, 0.15), (0.7, 0.1, 0.2)]
)
def test_the_cases_for_kappa_equal_those_of_kappasize(kappa, share, half_width):
    # The first parameters are the example in kappaSize's documentation.
    expected = size_by_search(kappa, kappa - half_width, kappa + half_width, share)
    assert cases_for_kappa(kappa, share, half_width=half_width) == expected


def test_the_planned_cases_are_the_fewest_with_limits_within_the_half_width():
    cases = cases_for_kappa(0.4, 0.3, half_width=0.1)
    low, high = expected_kappa_limits(0.4, 0.3, cases=cases)
    assert low >= 0.3
    assert high <= 0.5
    low, high = expected_kappa_limits(0.4, 0.3, cases=cases - 1)
    assert low < 0.3 or high > 0.5


def test_the_lower_limit_of_four_raters_solves_the_chi_square_equation():
    # kappaSize's FixedNBinary example: kappa .7, 100 subjects, prevalence .5, 4 raters, one-sided .05.
    low, _ = expected_kappa_limits(0.7, 0.5, cases=100, raters=4, confidence=0.9)

    def probabilities(r, p=0.5):
        return np.array([
            (1 - p) ** 4 + r * ((1 - p) - (1 - p) ** 4), 4 * (1 - r) * p * (1 - p) ** 3,
            6 * (1 - r) * p**2 * (1 - p) ** 2, 4 * (1 - r) * p**3 * (1 - p), p**4 + r * (p - p**4),
        ])  # fmt: skip

    statistic = 100 * np.sum((probabilities(0.7) - probabilities(low)) ** 2 / probabilities(low))
    assert statistic == pytest.approx(chi2.ppf(0.9, 1))
    assert low < 0.7


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"kappa": 1.0}, "kappa"), ({"share": 0.0}, "share"), ({"raters": 1}, "raters"),
        ({"half_width": 0.0}, "half_width"),
        ({"kappa": 0.5, "share": 0.1, "half_width": 0.9}, "half_width"),
    ],
)  # fmt: skip
def test_an_impossible_precision_is_refused(arguments, field):
    values = {"kappa": 0.6, "share": 0.5, "half_width": 0.1} | arguments
    kappa, share = values.pop("kappa"), values.pop("share")
    with pytest.raises(InvalidValue, match=field):
        cases_for_kappa(kappa, share, **values)
