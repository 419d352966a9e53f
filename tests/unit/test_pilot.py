"""Assumptions of a power calculation from a pilot study."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
import scipy

from cli import main
from domain.errors import Refused
from measures.all_measures import encode_table
from measures.pilot import estimate_pilot
from measures.power import PowerAssumptions
from measures.power_designs import ArmAssumptions
from tests.unit.measure_helpers import NO_BOOTSTRAP, make_ratings

PLANNED = PowerAssumptions(
    reader_accuracy=0.75, model_accuracy=0.85, spread=0.05, reader_correlation=0.5, model_correlation=0.35
)


def to_letters(correct):
    return "".join("A" if value else "B" for value in correct)


def simulate_study(assumptions=PLANNED, *, readers, cases, seed=5):
    """The answers of readers and a model under the assumptions; the key is A."""
    random = np.random.default_rng(seed)
    difficulty = random.standard_normal(cases)
    accuracies = assumptions.reader_accuracy + assumptions.spread * random.standard_normal(readers)

    def draw(accuracy, loading):
        latent = loading * difficulty + np.sqrt(1 - loading**2) * random.standard_normal(cases)
        return to_letters(latent < scipy.special.ndtri(accuracy))

    loading = np.sqrt(assumptions.reader_correlation)
    answers = {f"r{index:02}": draw(accuracy, loading) for index, accuracy in enumerate(accuracies)}
    return {
        "ref": "A" * cases,
        **answers,
        "m1": draw(assumptions.model_accuracy, assumptions.model_correlation / loading),
    }


def estimate(answers, model=None, **columns):
    return estimate_pilot(encode_table(make_ratings(answers, **columns), NO_BOOTSTRAP).matrix, model=model)


def test_a_large_pilot_reproduces_the_assumptions_of_its_simulation():
    pilot = estimate(simulate_study(readers=30, cases=1500))
    assert (pilot.readers, pilot.cases, pilot.model) == (30, 1500, "m1")
    assumptions = pilot.assumptions
    assert isinstance(assumptions, PowerAssumptions)
    for name, tolerance in (
        ("reader_accuracy", 0.03), ("model_accuracy", 0.03), ("spread", 0.012), ("reader_correlation", 0.03),
        ("model_correlation", 0.05),
    ):  # fmt: skip
        assert getattr(assumptions, name) == pytest.approx(getattr(PLANNED, name), abs=tolerance), name


def test_the_variances_equal_those_of_an_analysis_of_variance():
    # Two readers, four cases: correct 1 1 1 0 and 1 0 0 0; grand mean 1/2, reader means 3/4 and 1/4, case
    # means 1, 1/2, 1/2, 0. MS readers = 4 (1/16 + 1/16) = 1/2, MS cases = 2 (1/4 + 1/4) / 3 = 1/3, MS rest =
    # (2 - 1/2 - 1) / 3 = 1/6. Readers (1/2 - 1/6) / 4 = 1/12, cases (1/3 - 1/6) / 2 = 1/12.
    pilot = estimate({"ref": "AAAA", "r1": "AAAB", "r2": "ABBB", "m1": "AAAA"})
    assert pilot.reader_variance == pytest.approx(1 / 12)
    assert pilot.case_variance == pytest.approx(1 / 12)
    assert pilot.interaction_variance == pytest.approx(1 / 6)


def test_readers_who_helped_to_set_the_reference_are_excluded_and_two_others_are_needed():
    answers = simulate_study(readers=4, cases=200)
    reference_readers = {rater: ("1" if rater == "r00" else "0") * 200 for rater in answers}
    answers_without_r00 = {rater: text for rater, text in answers.items() if rater != "r00"}
    assert estimate(answers, set_reference=reference_readers) == estimate(answers_without_r00)
    with pytest.raises(Refused, match="two readers or more"):
        estimate({"ref": "AB", "r1": "AB", "m1": "AA"})


def test_one_of_several_models_must_be_chosen():
    answers = simulate_study(readers=3, cases=60) | {"m2": "A" * 60}
    with pytest.raises(Refused, match="Choose one of its models: m1, m2"):
        estimate(answers)
    assert estimate(answers, model="m2").assumptions.model_accuracy == 0.999


def test_missing_answers_are_left_out():
    answers = simulate_study(readers=15, cases=1000)
    random = np.random.default_rng(1)
    partial = {
        rater: "".join(
            letter if rater[0] != "r" or random.random() < 0.5 or rater == "ref" else " " for letter in text
        )
        for rater, text in answers.items()
    }
    from_all, from_partial = estimate(answers), estimate(partial)
    for name in ("spread", "reader_correlation", "model_correlation"):
        expected = getattr(from_all.assumptions, name)
        assert getattr(from_partial.assumptions, name) == pytest.approx(expected, abs=0.05), name


def simulate_arms(planned, *, readers, cases, seed=3):
    random = np.random.default_rng(seed)
    base = planned.other_correlation
    shared = random.standard_normal(cases)
    by_arm = random.standard_normal((2, cases))
    reader_effects = planned.spread * random.standard_normal(readers)
    texts = {}
    for reader in range(readers):
        by_reader = random.standard_normal(cases)
        for arm, accuracy in enumerate((planned.first_accuracy, planned.second_accuracy)):
            latent = (
                np.sqrt(base) * shared
                + np.sqrt(planned.same_arm_correlation - base) * by_arm[arm]
                + np.sqrt(planned.same_reader_correlation - base) * by_reader
                + np.sqrt(planned.residual_variance) * random.standard_normal(cases)
            )
            reader_accuracy = (
                accuracy + reader_effects[reader] + planned.arm_spread * random.standard_normal()
            )
            texts[f"r{reader:02}", "ab"[arm]] = to_letters(latent < scipy.special.ndtri(reader_accuracy))
    return texts


@pytest.mark.slow
def test_a_pilot_with_two_arms_reproduces_the_assumptions_of_its_simulation():
    planned = ArmAssumptions(first_accuracy=0.82, second_accuracy=0.74, spread=0.05, arm_spread=0.03)
    texts = simulate_arms(planned, readers=30, cases=1200)
    tables = [make_ratings({"ref": "A" * 1200}).assign(arm="")]
    tables += [make_ratings({reader: text}).assign(arm=arm) for (reader, arm), text in texts.items()]
    matrix = encode_table(pd.concat(tables, ignore_index=True), NO_BOOTSTRAP).matrix
    pilot = estimate_pilot(matrix)
    assert (pilot.arms, pilot.readers, pilot.cases, pilot.model) == (("a", "b"), 30, 1200, "")
    for name, tolerance in (
        ("first_accuracy", 0.03), ("second_accuracy", 0.03), ("spread", 0.015), ("arm_spread", 0.015),
        ("same_reader_correlation", 0.04), ("same_arm_correlation", 0.04), ("other_correlation", 0.04),
    ):  # fmt: skip
        assert getattr(pilot.assumptions, name) == pytest.approx(getattr(planned, name), abs=tolerance), name


def test_the_command_plans_from_a_file_of_ratings(tmp_path, capsys):
    ratings = tmp_path / "pilot.csv"
    answers = simulate_study(readers=5, cases=120)
    make_ratings(answers).to_csv(ratings, index=False)
    arguments = [
        "study",
        "power",
        "--pilot",
        str(ratings),
        "--readers",
        "5",
        "--cases",
        "200",
        "--runs",
        "20",
    ]
    assert main([*arguments, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assumptions = estimate(answers).assumptions
    assert isinstance(assumptions, PowerAssumptions)
    assert output["expected"] == asdict(assumptions) == output["pilot"]["assumptions"]
    assert main([*arguments, "--spread", "0.04"]) == 0  # a given value replaces the pilot's
    assert capsys.readouterr().out.startswith("Pilot: 5 readers, 120 cases, model m1; accuracy readers ")
    assert main([*arguments, "--second-arm-accuracy", "0.8"]) == 1
    assert "two arms" in capsys.readouterr().err
    assert main(["study", "power", "--reader-accuracy", "0.7"]) == 1
    assert "or a pilot" in capsys.readouterr().err
