"""Readers with several arms, readers who set the reference, patients, and models with missing answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from domain.errors import Refused
from domain.protocols import MissingAnswers
from measures.all_measures import compute_measures
from measures.arms import compare_arms
from measures.mrmc import compare_with_model
from tests.unit.measure_helpers import NO_BOOTSTRAP, find_only, make_ratings, measure_answers


def simulate_arms(*, readers=4, cases=40, seed=2, periods=False):
    """A reference, readers in the arms "aided" and "plain", and a model; the truth is always yes."""
    rng = np.random.default_rng(seed)
    easiness = rng.standard_normal(cases)
    rows: list[dict[str, str]] = []

    def add(rater, kind, correct, arm="", period=""):
        rows.extend(
            {"question_id": f"q{case:02}", "rater": rater, "kind": kind, "arm": arm, "period": period}
            | {"answer": "yes" if is_correct else "no"}
            for case, is_correct in enumerate(correct)
        )

    add("ref", "reference", np.ones(cases, dtype=bool))
    add("m1", "model", easiness + rng.standard_normal(cases) > -1)
    for reader in range(readers):
        for arm, shift in (("aided", 0.6), ("plain", 0.0)):
            correct = easiness + rng.standard_normal(cases) + shift > -0.3
            period = str(1 + ((arm == "plain") ^ (reader % 2))) if periods else ""
            add(f"r{reader + 1}", "reader", correct, arm, period)
    return pd.DataFrame(rows)


def get_scores(table, arm):
    """Correctness in an arm, shape (cases, readers)."""
    rows = table[table["arm"] == arm]
    return (rows.pivot(index="question_id", columns="rater", values="answer") == "yes").to_numpy(dtype=float)


# ------------------------------------------------------------------------------------------- one reader


def test_the_arms_of_a_reader_are_one_reader_in_the_comparison_with_a_model():
    table = simulate_arms()
    model = (table[table["rater"] == "m1"]["answer"] == "yes").to_numpy(dtype=float)
    mean = (get_scores(table, "aided") + get_scores(table, "plain")) / 2
    expected = compare_with_model(mean, model)
    measures = compute_measures(table, settings=NO_BOOTSTRAP)
    comparison = find_only(measures.mrmc, arm="", random_readers=True)
    assert (comparison.readers, comparison.p) == (4, expected.p)
    aided = find_only(measures.mrmc, arm="aided", random_readers=True)
    assert aided.p == compare_with_model(get_scores(table, "aided"), model).p


def test_readers_in_different_arms_are_not_a_pair():
    pairs = {
        (row.a, row.b) for row in compute_measures(simulate_arms(readers=2), settings=NO_BOOTSTRAP).paired
    }
    assert pairs == {
        ("m1", "r1 (aided)"), ("m1", "r1 (plain)"), ("m1", "r2 (aided)"), ("m1", "r2 (plain)"),
        ("r1 (aided)", "r1 (plain)"), ("r2 (aided)", "r2 (plain)"),
        ("r1 (aided)", "r2 (aided)"), ("r1 (plain)", "r2 (plain)"),
    }  # fmt: skip


def test_a_group_contains_each_reader_once():
    groups = compute_measures(simulate_arms(), settings=NO_BOOTSTRAP).group
    assert [(group.kind, group.arm, group.raters, group.q_df) for group in groups] == [
        ("all", "aided", 5, 4), ("all", "plain", 5, 4), ("reader", "aided", 4, 3), ("reader", "plain", 4, 3),
    ]  # fmt: skip


# ----------------------------------------------------------------------------------------------- arms


def test_the_arms_are_compared_in_four_ways():
    table = simulate_arms()
    expected = compare_arms(get_scores(table, "aided"), get_scores(table, "plain"))
    rows = compute_measures(table, settings=NO_BOOTSTRAP).arms
    assert [(row.factor, row.a, row.b, row.method) for row in rows] == [
        ("arm", "aided", "plain", method)
        for method in ("Obuchowski-Rockette", "U-statistic", "fixed readers", "fixed cases")
    ]
    assert [row.p for row in rows] == [result.p for result in expected]
    assert rows[0].mean_a - rows[0].mean_b == pytest.approx(rows[0].difference)
    assert rows[0].difference > 0
    assert rows[0].p == pytest.approx(rows[1].p)


def test_fixed_cases_are_a_t_test_over_readers():
    first, second = (get_scores(simulate_arms(), arm) for arm in ("aided", "plain"))
    differences = first.mean(axis=0) - second.mean(axis=0)
    result = compare_arms(first, second)[3]
    assert result.se == pytest.approx(differences.std(ddof=1) / 2)  # 4 readers
    assert result.df == 3


def test_the_u_statistic_of_two_arms_equals_a_brute_force_calculation():
    rng = np.random.default_rng(4)
    arms = rng.integers(0, 2, size=(2, 6, 3)).astype(float)
    arms[0, :2, 0] = arms[1, 3:5, 2] = arms[0, 5, 1] = np.nan

    def covariance(x, y):
        cells_x, cells_y = (list(zip(*np.nonzero(~np.isnan(arm)), strict=True)) for arm in (x, y))
        products = [x[a] * y[b] for a in cells_x for b in cells_y if a[0] != b[0] and a[1] != b[1]]
        return np.nanmean(x) * np.nanmean(y) - np.mean(products)

    # moments of one type are averaged before they are weighted, so the number of pairs per type cancels
    expected = sum(sign * covariance(arms[a], arms[b]) for a, b, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -2)))
    result = next(row for row in compare_arms(arms[0], arms[1]) if row.method == "U-statistic")
    assert expected > 0
    assert result.se**2 == pytest.approx(expected)
    assert result.difference == pytest.approx(np.nanmean(arms[0]) - np.nanmean(arms[1]))


def test_different_readers_in_each_arm_are_nested():
    first, second = (get_scores(simulate_arms(cases=200), arm) for arm in ("aided", "plain"))
    first[:, 2:] = second[:, :2] = np.nan
    nested, u_statistic, _, fixed_cases = compare_arms(first, second)
    assert nested.method == "Obuchowski-Rockette, readers nested within arms"
    assert nested.readers == u_statistic.readers == 4
    assert nested.difference == pytest.approx(first[:, :2].mean() - second[:, 2:].mean())
    assert nested.se == pytest.approx(u_statistic.se)
    groups = [first[:, :2].mean(axis=0), second[:, 2:].mean(axis=0)]
    assert fixed_cases.se**2 == pytest.approx(sum(group.var(ddof=1) / 2 for group in groups))


def test_an_arm_with_half_of_the_cases_gives_no_obuchowski_rockette_analysis():
    first, second = (get_scores(simulate_arms(), arm) for arm in ("aided", "plain"))
    first[:20] = np.nan
    assert [row.method for row in compare_arms(first, second)] == [
        "U-statistic",
        "fixed readers",
        "fixed cases",
    ]


def test_a_crossover_has_a_period_and_a_sequence_check():
    table = simulate_arms(periods=True)
    rows = compute_measures(table, settings=NO_BOOTSTRAP).arms
    period = find_only(rows, factor="period", method="Obuchowski-Rockette")
    # odd readers read "aided" first
    aided, plain = get_scores(table, "aided"), get_scores(table, "plain")
    odd = np.array([True, False, True, False])
    first, second = np.where(odd, aided, plain), np.where(odd, plain, aided)
    assert (period.a, period.b, period.difference) == ("1", "2", pytest.approx((first - second).mean()))
    sequence = find_only(rows, factor="sequence", method="fixed cases")
    mean = ((aided + plain) / 2).mean(axis=0)
    assert (sequence.a, sequence.b) == ("aided first", "plain first")
    assert sequence.difference == pytest.approx(mean[odd].mean() - mean[~odd].mean())
    assert {row.p_adjusted for row in rows if row.factor != "arm"} == {None}


def test_one_arm_has_no_comparison_of_arms():
    assert measure_answers({"ref": "AB", "r1": "AB", "r2": "AA"}).arms == ()


# --------------------------------------------------------------------------------------------- helpers


HELPER_FLAGS = {"ref": "0" * 40, "r1": "1" * 40, "r2": "0" * 40, "r3": "0" * 40, "m1": "0" * 40}


def simulate_answers(seed=1, cases=40):
    rng = np.random.default_rng(seed)
    return {"ref": "A" * cases} | {
        rater: "".join(rng.choice(["A", "B"], p=[share, 1 - share], size=cases))
        for rater, share in (("r1", 0.95), ("r2", 0.7), ("r3", 0.75), ("m1", 0.85))
    }


def test_readers_who_set_the_reference_are_only_in_the_result_that_includes_helpers():
    answers = simulate_answers()
    measures = measure_answers(answers, set_reference=HELPER_FLAGS)
    independent = find_only(measures.mrmc, random_readers=True, includes_helpers=False)
    all_readers = find_only(measures.mrmc, random_readers=True, includes_helpers=True)
    assert (independent.readers, all_readers.readers) == (2, 3)
    without_r1 = measure_answers({name: text for name, text in answers.items() if name != "r1"})
    assert independent.p == find_only(without_r1.mrmc, random_readers=True).p
    assert all_readers.p == find_only(measure_answers(answers).mrmc, random_readers=True).p


def test_without_an_independent_reader_the_comparison_is_not_defined():
    set_reference = {
        name: "1" * 40 if name.startswith("r") and name != "ref" else "0" * 40 for name in HELPER_FLAGS
    }
    measures = measure_answers(simulate_answers(), set_reference=set_reference)
    independent = find_only(measures.mrmc, random_readers=True, includes_helpers=False)
    assert (independent.difference, independent.note) == (
        None, "not defined: every reader helped to set the reference",
    )  # fmt: skip


# ---------------------------------------------------------------------------------- patients and models


def test_two_exams_of_a_patient_are_one_cluster():
    answers = simulate_answers()
    doubled = {rater: text * 2 for rater, text in answers.items()}
    exam = [str(index) for index in range(80)]
    table = make_ratings(doubled).assign(exam=exam * len(doubled))
    by_exam = compute_measures(table, settings=NO_BOOTSTRAP)
    table["patient"] = [f"p{index % 40}" for index in range(80)] * len(doubled)
    by_patient = compute_measures(table, settings=NO_BOOTSTRAP)
    single = measure_answers(answers)
    for name in ("mrmc", "accuracy", "group", "paired"):
        assert getattr(by_exam, name) != getattr(by_patient, name), name
    se = find_only(single.mrmc, random_readers=True).se
    assert find_only(by_patient.mrmc, random_readers=True).se == pytest.approx(se)
    assert find_only(by_exam.mrmc, random_readers=True).se < se
    assert find_only(by_patient.accuracy, rater="r1", group="all").note == "clustered by patient"
    assert find_only(by_patient.paired, a="m1", b="r1").note == "clustered by patient"


def test_an_exam_of_two_patients_is_refused():
    table = make_ratings({"ref": "AB", "r1": "AB"}).assign(exam="e", patient=["p", "q", "p", "q"])
    with pytest.raises(Refused, match="line 3: patient 'q': exam 'e' has 'p' on line 2"):
        compute_measures(table, settings=NO_BOOTSTRAP)


def test_a_patient_stated_on_some_lines_replaces_the_exam_as_cluster():
    # q1 and q2 share a patient that the reference's lines do not state
    table = make_ratings({"ref": "ABAB", "r1": "ABBA"}).assign(exam=list("abcd") * 2)
    table["patient"] = [""] * 4 + ["p", "p", "", ""]
    accuracy = compute_measures(table, settings=NO_BOOTSTRAP).accuracy[0]
    assert accuracy.note == "clustered by patient"


def test_a_model_with_missing_answers_is_compared_on_common_questions_with_a_warning():
    answers = simulate_answers()
    answers["m1"] = answers["m1"][:30] + " " * 10
    common = find_only(measure_answers(answers).mrmc, random_readers=True)
    assert common.cases == 30
    assert common.note == (
        "warning: the model answered 30 of the 40 questions that readers answered; only these are compared"
    )
    settings = replace(NO_BOOTSTRAP, missing_answers=MissingAnswers.WRONG)
    measures = measure_answers(answers, settings)
    missing_as_wrong = find_only(measures.mrmc, random_readers=True)
    with_wrong_answers = measure_answers(answers | {"m1": answers["m1"].replace(" ", "B")})
    assert (missing_as_wrong.cases, missing_as_wrong.p) == (
        40,
        find_only(with_wrong_answers.mrmc, random_readers=True).p,
    )
    assert missing_as_wrong.note == "10 questions without an answer of the model count as incorrect"
    assert find_only(measures.accuracy, rater="m1").n == 40
    assert find_only(measures.agreement, a="m1", b="r1").n == 30
