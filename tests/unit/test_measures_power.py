"""Power by formula and by simulation, at ReXVQA's accuracies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from domain.errors import InvalidValue
from measures.mrmc import compare_with_model
from measures.power import (
    Power,
    PowerAssumptions,
    _find_significant,
    cases_for_power,
    power_by_formula,
    power_by_simulation,
    power_table,
    simulate_differences,
)

REXVQA = PowerAssumptions(reader_accuracy=0.7727, model_accuracy=0.8384)


@pytest.mark.parametrize(
    ("spread", "formula", "simulated"),
    [(0.0, 0.59, 0.58), (0.02, 0.51, 0.50), (0.04, 0.33, 0.35), (0.06, 0.21, 0.25)],
)
def test_power_of_three_readers_and_200_cases(spread, formula, simulated):
    expected = replace(REXVQA, spread=spread)
    assert power_by_formula(expected, readers=3, cases=200) == pytest.approx(formula, abs=0.005)
    found, error = power_by_simulation(expected, readers=3, cases=200, seed=1, runs=4000)
    assert found == pytest.approx(simulated, abs=0.005 + 3 * error)


def test_where_the_two_are_far_apart_the_simulation_is_shown_with_its_error():
    (near,) = power_table(replace(REXVQA, spread=0.02), readers=[3], cases=[200], seed=1)
    (far,) = power_table(replace(REXVQA, spread=0.06), readers=[3], cases=[200], seed=1)
    assert (near.quoted_method, near.quoted_power) == ("formula", near.formula)
    assert (far.quoted_method, far.quoted_power) == ("simulation", far.simulated)
    assert 0.002 < far.simulated_error < 0.01


@pytest.mark.parametrize(("readers", "cases"), [(3, 570), (5, 350), (10, 290)])
def test_cases_for_80_percent_at_a_spread_of_2_points(readers, cases):
    found = cases_for_power(replace(REXVQA, spread=0.02), readers=readers)
    assert found == pytest.approx(cases, abs=10)


def test_so_few_cases_and_no_fewer():
    expected = replace(REXVQA, spread=0.02)
    found = cases_for_power(expected, readers=5)
    assert power_by_formula(expected, readers=5, cases=found) >= 0.8
    assert power_by_formula(expected, readers=5, cases=found - 1) < 0.8


def test_too_few_readers_have_no_number_of_cases():
    assert cases_for_power(replace(REXVQA, spread=0.02), readers=2) is None


def test_the_simulated_test_is_the_one_of_the_report():
    drawn = simulate_differences(
        replace(REXVQA, spread=0.05), np.random.default_rng(3), readers=4, cases=80, studies=40
    )
    shown = _find_significant(drawn, REXVQA)
    for differences, found in zip(drawn.astype(float), shown, strict=True):
        p = compare_with_model(differences, np.zeros(80)).p
        assert (p < 0.05) == found


def test_fixed_readers_have_more_power():
    spread = replace(REXVQA, spread=0.05)
    fixed = replace(spread, random_readers=False)
    assert power_by_formula(fixed, readers=3, cases=200) > power_by_formula(spread, readers=3, cases=200)


def test_no_difference_has_the_power_of_chance():
    same = PowerAssumptions(reader_accuracy=0.8, model_accuracy=0.8)
    assert power_by_formula(same, readers=5, cases=200) == pytest.approx(0.05)


def test_a_margin_asks_for_no_worse_by_so_much():
    same = PowerAssumptions(reader_accuracy=0.8, model_accuracy=0.8, margin=0.05)
    formula = power_by_formula(same, readers=5, cases=400)
    simulated, error = power_by_simulation(same, readers=5, cases=400, seed=1, runs=3000)
    assert formula == pytest.approx(simulated, abs=0.02 + 3 * error)
    worse = replace(same, model_accuracy=0.75)
    assert power_by_formula(worse, readers=5, cases=400) == pytest.approx(0.025)


def test_the_same_seed_gives_the_same_power():
    designs: dict[str, Any] = {"readers": [2, 3], "cases": [50, 100], "seed": 4, "runs": 500}
    assert power_table(REXVQA, **designs) == power_table(REXVQA, **designs)


def test_progress_is_told_by_design():
    told = []
    power_table(
        REXVQA, readers=[3], cases=[50, 100], runs=0, progress=lambda done, of: told.append((done, of))
    )
    assert told == [(0, 2), (1, 2), (2, 2)]


def test_without_runs_the_formula_is_shown():
    found = power_table(REXVQA, readers=[3], cases=[200], runs=0)[0]
    assert isinstance(found, Power)
    assert (found.simulated, found.quoted_method) == (None, "formula")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reader_accuracy", 77.27), ("model_accuracy", 0.0), ("spread", 2.0), ("margin", -0.1),
        ("alpha", 5.0), ("reader_correlation", 1.0), ("model_correlation", 0.9),
    ],
)  # fmt: skip
def test_what_cannot_be_expected_is_refused_by_field(field, value):
    with pytest.raises(InvalidValue, match=f"^{field}: "):
        replace(REXVQA, **{field: value})


def test_one_reader_is_no_sample_of_readers():
    with pytest.raises(InvalidValue, match="1: readers taken as a sample need 2 or more"):
        power_by_formula(REXVQA, readers=1, cases=200)
