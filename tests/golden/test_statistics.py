"""Estimators of questions and raters equal the worked examples of statistics/: published, recomputed in R.

Where R prints an error or interval for a constant rater, ours is undefined by definition. For the stratified
examples, estimate and error are compared; their intervals use other methods than ours.
"""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from cli import main
from measures.agreement import Weights, agreement_weights
from measures.group_agreement import (
    Coefficient,
    agreement_coefficient,
    fleiss_by_category,
    fleiss_z,
    ordinal_weights,
)
from measures.intraclass import ICC_TYPES, intraclass
from measures.kappa_intervals import kappa_interval
from measures.multiplicity import adjust_p_values
from measures.paired import cochran_q, mcnemar, newcombe_paired, tango
from measures.pairs import ac1_influence, build_pair_tables, compute_kappas, kappa_influence
from measures.proportions import clopper_pearson, wilson
from measures.strata import StratumCount, stratified_mean, stratified_rate
from tests.golden.worked_examples import FOLDER, load_example

TABLE_EXAMPLES = sorted(
    path.stem for path in FOLDER.glob("*.json") if '"table"' in path.read_text(encoding="utf-8")
)
GROUP_EXAMPLES = ["fleiss1971_diagnoses", "krippendorff2011"]
COEFFICIENT_IDS = {"kripp": "alpha", "bp": "brennan_prediger", "pa": "percent", "ac2": "ac1"}


def table_to_pairs(table):
    """One row per count of the table: the two raters' categories."""
    cells = [(row, column) for row, counts in enumerate(table) for column in range(len(counts))]
    return np.repeat(np.array(cells), np.ravel(table), axis=0)


def make_weights(k, name):
    """Agreement weights by the name that the examples use."""
    if name == "ordinal":  # Gwet's weights: by the number of pairs of categories between the two
        category_steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
        distance = (category_steps + 1) * category_steps / 2
        return 1 - distance / distance.max()
    return agreement_weights(k, Weights(name or "none"))


def test_every_example_is_used():
    used_examples = {
        *TABLE_EXAMPLES,
        *GROUP_EXAMPLES,
        "binom_ci_dev",
        "cochran_q_drugs",
        "icc_shrout_fleiss",
        "mcnemar_dev",
    }
    used_examples |= {
        "mrmc_vandyke_auc",
        "imrmc_two_modalities",  # by tests/golden/test_statistics_of_readers.py
        "r_oracles",  # by tests/golden/test_r_oracles.py
        "prediction_powered",  # by tests/unit/test_measures_weighted_rates.py
        "srs_lohr_agsrs",
        "stratified_lohr_agstrat",
        "stratified_quality_review",
    }
    assert {path.stem for path in FOLDER.glob("*.json")} == used_examples
    assert len(TABLE_EXAMPLES) == 8


@pytest.mark.parametrize("name", TABLE_EXAMPLES)
@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_kappa_se_and_large_sample_interval_equal_the_reference(name, weights):
    data, expected, tolerance = load_example(name)
    answers = table_to_pairs(data["table"])
    k = len(data["table"])
    weight_matrix = make_weights(k, "none" if weights == "unweighted" else weights)
    kappa = kappa_interval(answers[:, 0], answers[:, 1], weights=weight_matrix, draws=0)
    expected_kappa = expected[f"kappa_{weights}"]
    assert kappa.value == pytest.approx(expected_kappa["value"], abs=tolerance)
    if name == "edge_constant_rater":  # R prints SE 0, although there is nothing to estimate it from
        assert (kappa.se, kappa.low, kappa.high) == (None, None, None)
        return
    assert kappa.se == pytest.approx(expected_kappa["se"], abs=tolerance)
    assert [kappa.low, kappa.high] == pytest.approx(expected_kappa["ci95_z"], abs=tolerance)


@pytest.mark.parametrize("name", TABLE_EXAMPLES)
def test_other_coefficients_of_two_raters_equal_the_reference(name):
    data, expected, tolerance = load_example(name)
    table = np.array(data["table"])
    answers, k, n = table_to_pairs(table), len(table), table.sum()
    assert np.trace(table) / n == pytest.approx(expected["percent_agreement"], abs=tolerance)
    for key, coefficient in (
        ("scott_pi", Coefficient.FLEISS),
        ("brennan_prediger", Coefficient.BRENNAN_PREDIGER),
        ("krippendorff_alpha_nominal", Coefficient.ALPHA),
        ("gwet_ac1", Coefficient.AC1),
    ):
        coefficient_result = agreement_coefficient(answers, coefficient, weights=np.eye(k), draws=0)
        assert coefficient_result.value == pytest.approx(expected[key]["value"], abs=tolerance), key
        # The standard error of a table divides by n, that of a group by n - 1.
        se_with_n = coefficient_result.se * np.sqrt((n - 1) / n)
        assert se_with_n == pytest.approx(expected[key]["se"], abs=tolerance), key
    for key, weights in (
        ("gwet_ac1", "none"),
        ("gwet_ac2_linear", "linear"),
        ("gwet_ac2_quadratic", "quadratic"),
    ):
        ac1, influence = ac1_influence(table, make_weights(k, weights))
        assert ac1 == pytest.approx(expected[key]["value"], abs=tolerance)
        assert np.sqrt((table * influence**2).sum()) / n == pytest.approx(expected[key]["se"], abs=tolerance)


def test_kappa_with_custom_weights_equals_the_reference():
    data, expected, tolerance = load_example("kappa_cohen1968")
    table, disagreement = np.array(data["table"]), np.array(expected["custom_disagreement_weights"])
    kappa, influence = kappa_influence(table, 1 - disagreement / disagreement.max())
    assert kappa == pytest.approx(expected["kappa_custom"]["value"], abs=tolerance)
    se = np.sqrt((table * influence**2).sum()) / table.sum()
    assert se == pytest.approx(expected["kappa_custom"]["se"], abs=tolerance)


@pytest.mark.parametrize("name", GROUP_EXAMPLES)
def test_group_coefficients_equal_the_reference(name):
    data, expected, tolerance = load_example(name)
    ratings = np.array([[-1 if label is None else label - 1 for label in row] for row in data["ratings"]])
    k = int(ratings.max()) + 1
    for key, expected_result in expected["irrCAC_5dp"].items():
        coefficient_name, _, weights = key.partition("_")
        result = agreement_coefficient(
            ratings,
            Coefficient(COEFFICIENT_IDS.get(coefficient_name, coefficient_name)),
            weights=make_weights(k, weights or "none"),
            draws=0,
        )
        # the tolerance is half a unit of the fifth printed digit
        assert result.value == pytest.approx(expected_result["value"], abs=tolerance / 2 + 1e-9), key
        assert result.se == pytest.approx(expected_result["se"], abs=tolerance / 2 + 1e-9), key
        limits = [float(limit) for limit in expected_result["ci95_t"].strip("()").split(",")]
        assert [result.low, result.high] == pytest.approx(limits, abs=0.0005 + 1e-9), key


def test_fleiss_light_and_category_kappas_equal_the_reference():
    data, expected, tolerance = load_example("fleiss1971_diagnoses")
    ratings = np.array(data["ratings"]) - 1
    identity_weights = np.eye(5)
    fleiss = agreement_coefficient(ratings, Coefficient.FLEISS, weights=identity_weights, draws=0)
    assert fleiss.value == pytest.approx(expected["fleiss_kappa"], abs=tolerance)
    assert fleiss_z(ratings, k=5) == pytest.approx(expected["fleiss_z"], abs=tolerance)
    conger = agreement_coefficient(ratings, Coefficient.CONGER, weights=identity_weights, draws=0).value
    assert conger == pytest.approx(expected["conger_exact"], abs=tolerance)
    pair_kappas, _ = compute_kappas(
        build_pair_tables(ratings, list(combinations(range(6), 2)), k=5)[0], identity_weights
    )
    assert pair_kappas.mean() == pytest.approx(expected["light_kappa"], abs=tolerance)
    assert np.round(fleiss_by_category(ratings, k=5), 3).tolist() == expected["category_kappas_3dp"]


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_krippendorff_alpha_with_missing_answers_equals_the_reference(metric):
    data, expected, tolerance = load_example("krippendorff2011")
    ratings = np.array([[-1 if label is None else label - 1 for label in row] for row in data["ratings"]])
    values = np.arange(1.0, 6.0)
    distance, total = np.abs(np.subtract.outer(values, values)), np.add.outer(values, values)
    # A weight is 1 minus the distance divided by the largest distance.
    distances = {
        "nominal": distance > 0,
        "interval": (distance / 4) ** 2,
        "ratio": (distance / total) ** 2 * 2.25,
    }
    weights = ordinal_weights(ratings, k=5) if metric == "ordinal" else 1.0 - distances[metric]
    alpha = agreement_coefficient(ratings, Coefficient.ALPHA, weights=weights, draws=0).value
    assert alpha == pytest.approx(expected["alpha"][metric], abs=tolerance)


def test_intervals_of_a_proportion_equal_the_reference():
    data, expected, tolerance = load_example("binom_ci_dev")
    for share in data:
        count, n = map(int, share.split("/"))
        for name, proportion in (
            ("wilson", wilson(count, n)),
            ("wilson_cc", wilson(count, n, continuity_corrected=True)),
            ("clopper", clopper_pearson(count, n)),
        ):
            assert [proportion.low, proportion.high] == pytest.approx(expected[share][name], abs=tolerance), (
                name
            )


@pytest.mark.parametrize("name", ["agresti_approval", "cavo2012"])
def test_mcnemar_tango_and_newcombe_equal_the_reference(name):
    data, expected, tolerance = load_example("mcnemar_dev")
    ((both_right, a_only), (b_only, neither)), expected_results = data[name], expected[name]
    n = both_right + a_only + b_only + neither
    assert mcnemar(a_only, b_only) == pytest.approx(
        (expected_results["exact"], expected_results["midp"]), abs=tolerance
    )
    assert (a_only - b_only) / n == pytest.approx(expected_results["diff_p1_minus_p2"], abs=tolerance)
    assert tango(a_only, b_only, n) == pytest.approx(expected_results["tango_ci"], abs=tolerance)
    newcombe = newcombe_paired(both_right, a_only, b_only, neither)
    assert newcombe == pytest.approx(expected_results["newcombe10_ci"], abs=tolerance)


def test_cochran_q_and_holm_pairs_equal_the_reference():
    data, expected, tolerance = load_example("cochran_q_drugs")
    correct = (
        np.repeat([row for row, _ in data["patterns"]], [count for _, count in data["patterns"]], axis=0) == 1
    )
    assert correct.shape == (46, 3)
    q, degrees, p = cochran_q(correct)
    assert (q, degrees, p) == pytest.approx(tuple(expected["Q"].values()), abs=tolerance)
    exact = [
        mcnemar(int((correct[:, a] & ~correct[:, b]).sum()), int((~correct[:, a] & correct[:, b]).sum()))[0]
        for a, b in expected["pairs"]
    ]
    assert exact == pytest.approx(expected["pairwise_exact"], abs=tolerance)
    assert adjust_p_values(exact) == pytest.approx(expected["holm"], abs=tolerance)


def test_intraclass_correlations_equal_the_reference():
    data, expected, tolerance = load_example("icc_shrout_fleiss")
    correlations = intraclass(np.array(data["ratings"], dtype=float))
    assert tuple(correlation.icc_type for correlation in correlations) == tuple(expected["type"]) == ICC_TYPES
    for name, field in (("ICC", "estimate"), ("lower", "low"), ("upper", "high"), ("F", "ratio")):
        assert [getattr(correlation, field) for correlation in correlations] == pytest.approx(
            expected[name], abs=tolerance
        )


def test_a_simple_random_sample_equals_the_reference():
    data, expected, tolerance = load_example("srs_lohr_agsrs")
    acres = np.array(data["acres"], dtype=float)
    for values, mean, se, interval in (
        (acres, expected["mean"], expected["se"], expected["ci95_t"][0]),
        (
            (acres < 200_000).astype(float),
            expected["prop_lt200k"],
            expected["se_prop"],
            expected["ci95_t"][1],
        ),
    ):
        estimate = stratified_mean([values], [data["size"]])
        assert [estimate.mean, estimate.se] == pytest.approx([mean, se], abs=tolerance)
        assert [estimate.low, estimate.high] == pytest.approx(interval, abs=tolerance)


def test_a_stratified_sample_equals_the_reference():
    data, expected, tolerance = load_example("stratified_lohr_agstrat")
    acres = [np.array(data["acres"][name], dtype=float) for name in data["sizes"]]
    sizes = list(data["sizes"].values())
    estimate = stratified_mean(acres, sizes)
    assert [estimate.mean, estimate.se] == pytest.approx(
        [expected["mean_acres92"], expected["se_acres92"]], abs=tolerance
    )
    assert [estimate.low, estimate.high] == pytest.approx(expected["ci95_t_df"][0], abs=tolerance)
    assert [estimate.total, estimate.total_se] == pytest.approx([expected["total"], expected["total_se"]])
    is_small = [(values < 200_000).astype(float) for values in acres]
    share = stratified_mean(is_small, sizes)
    expected_share = [expected["prop_lt200k"], expected["se_prop_lt200k"]]
    assert [share.mean, share.se] == pytest.approx(expected_share, abs=tolerance)
    rate = stratified_rate(
        [
            StratumCount(name=name, size=data["sizes"][name], reviewed=len(values), hits=int(values.sum()))
            for name, values in zip(data["sizes"], is_small, strict=True)
        ]
    )
    assert [rate.estimate, rate.se] == pytest.approx(expected_share, abs=tolerance)


def test_a_sample_with_a_fully_judged_tier_equals_the_reference():
    data, expected, tolerance = load_example("stratified_quality_review")
    strata = [
        StratumCount(name=tier["tier"], size=tier["N"], reviewed=tier["n"], hits=tier["x"])
        for tier in data["counts"]
    ]
    rate = stratified_rate(strata)
    assert rate.estimate == pytest.approx(expected["weighted_error_rate"], abs=tolerance)
    assert rate.se == pytest.approx(expected["fpc"]["se"], abs=tolerance)
    assert rate.unweighted == pytest.approx(expected["unweighted_naive"], abs=tolerance)


def test_the_command_gives_the_intraclass_correlations_of_the_reference(tmp_path):
    data, expected, tolerance = load_example("icc_shrout_fleiss")
    tables = measure_table(data["ratings"], tmp_path, "--weights", "quadratic")
    assert [row["icc"] for row in tables["intraclass"]] == expected["type"]
    for name, field in (("ICC", "estimate"), ("lower", "low"), ("upper", "high"), ("F", "f")):
        values = [row[field] for row in tables["intraclass"]]
        assert values == pytest.approx(expected[name], abs=tolerance)


def test_the_command_gives_the_category_kappas_of_the_reference(tmp_path):
    data, expected, tolerance = load_example("fleiss1971_diagnoses")
    categories = measure_table(data["ratings"], tmp_path)["categories"]
    assert [round(row["kappa"], 3) for row in categories] == expected["category_kappas_3dp"]
    assert categories[0]["z"] == pytest.approx(expected["fleiss_z"], abs=tolerance)


def measure_table(ratings, folder, *options):
    """Run ``cli.py measure`` on ratings (questions, raters)."""
    path, out = folder / "ratings.csv", folder / "measures.json"
    lines = ["question_id,rater,answer"]
    lines += [
        f"{question},rater {rater},{answer}"
        for question, answers in enumerate(ratings)
        for rater, answer in enumerate(answers)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["measure", str(path), "--out", str(out), "--bootstrap", "0", *options]) == 0
    return json.loads(out.read_text(encoding="utf-8"))
