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
def test_power_by_formula_and_simulation_equals_the_reference(spread, formula, simulated):
    assumptions = replace(REXVQA, spread=spread)
    assert power_by_formula(assumptions, readers=3, cases=200) == pytest.approx(formula, abs=0.005)
    result, error = power_by_simulation(assumptions, readers=3, cases=200, seed=1, runs=4000)
    assert result == pytest.approx(simulated, abs=0.005 + 3 * error)


@pytest.mark.slow
def test_the_simulated_power_is_quoted_if_there_is_one():
    (power,) = power_table(replace(REXVQA, spread=0.02), readers=[3], cases=[200], seed=1)
    assert (power.quoted_method, power.quoted_power) == ("simulation", power.simulated)
    assert 0.002 < power.simulated_error < 0.01
    (by_formula,) = power_table(replace(REXVQA, spread=0.02), readers=[3], cases=[200], runs=0)
    assert (by_formula.quoted_method, by_formula.quoted_power) == ("formula", by_formula.formula)


@pytest.mark.parametrize(("readers", "cases"), [(3, 570), (5, 350), (10, 290)])
def test_cases_for_80_percent_power_equal_the_reference(readers, cases):
    result = cases_for_power(replace(REXVQA, spread=0.02), readers=readers)
    assert result == pytest.approx(cases, abs=10)


def test_cases_for_power_is_the_smallest_sufficient_number():
    assumptions = replace(REXVQA, spread=0.02)
    result = cases_for_power(assumptions, readers=5)
    assert power_by_formula(assumptions, readers=5, cases=result) >= 0.8
    assert power_by_formula(assumptions, readers=5, cases=result - 1) < 0.8


def test_with_too_few_readers_no_number_of_cases_suffices():
    assert cases_for_power(replace(REXVQA, spread=0.02), readers=2) is None


def test_the_simulation_uses_the_test_of_the_report():
    simulated = simulate_differences(
        replace(REXVQA, spread=0.05), np.random.default_rng(3), readers=4, cases=80, studies=40
    )
    significant = _find_significant(simulated, REXVQA)
    for differences, is_significant in zip(simulated.astype(float), significant, strict=True):
        p = compare_with_model(differences, np.zeros(80)).p
        assert (p < 0.05) == is_significant


def test_fixed_readers_have_more_power():
    random_readers = replace(REXVQA, spread=0.05)
    fixed_readers = replace(random_readers, random_readers=False)
    assert power_by_formula(fixed_readers, readers=3, cases=200) > power_by_formula(
        random_readers, readers=3, cases=200
    )


def test_power_without_a_difference_is_alpha():
    equal_accuracy = PowerAssumptions(reader_accuracy=0.8, model_accuracy=0.8)
    assert power_by_formula(equal_accuracy, readers=5, cases=200) == pytest.approx(0.05)


def test_a_margin_gives_the_power_of_a_non_inferiority_test():
    equal_accuracy = PowerAssumptions(reader_accuracy=0.8, model_accuracy=0.8, margin=0.05)
    formula = power_by_formula(equal_accuracy, readers=5, cases=400)
    simulated, error = power_by_simulation(equal_accuracy, readers=5, cases=400, seed=1, runs=3000)
    assert formula == pytest.approx(simulated, abs=0.02 + 3 * error)
    inferior_model = replace(equal_accuracy, model_accuracy=0.75)
    assert power_by_formula(inferior_model, readers=5, cases=400) == pytest.approx(0.025)


def test_the_same_seed_gives_the_same_power():
    designs: dict[str, Any] = {"readers": [2, 3], "cases": [50, 100], "seed": 4, "runs": 500}
    assert power_table(REXVQA, **designs) == power_table(REXVQA, **designs)


def test_progress_is_reported_for_each_design():
    progress_calls = []
    power_table(
        REXVQA,
        readers=[3],
        cases=[50, 100],
        runs=0,
        progress=lambda completed, total: progress_calls.append((completed, total)),
    )
    assert progress_calls == [(0, 2), (1, 2), (2, 2)]


def test_without_runs_the_formula_is_shown():
    result = power_table(REXVQA, readers=[3], cases=[200], runs=0)[0]
    assert isinstance(result, Power)
    assert (result.simulated, result.quoted_method) == (None, "formula")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reader_accuracy", 77.27), ("model_accuracy", 0.0), ("spread", 2.0), ("margin", -0.1),
        ("alpha", 5.0), ("reader_correlation", 1.0), ("model_correlation", 0.9),
    ],
)  # fmt: skip
def test_the_error_for_an_impossible_assumption_names_its_field(field, value):
    with pytest.raises(InvalidValue, match=f"^{field}: "):
        replace(REXVQA, **{field: value})


def test_one_random_reader_is_refused():
    with pytest.raises(InvalidValue, match="must be 2 to 1,000, not 1"):
        power_by_formula(REXVQA, readers=1, cases=200)
