"""The worked examples of statistics/, computed by ``cli.py measure`` and ``cli.py counts``.

Standard errors of a group are recomputed from its Student intervals. The published errors of two raters
divide by n, the errors of the command by n - 1.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import t

from cli import main
from tests.golden.test_statistics import GROUP_EXAMPLES, TABLE_EXAMPLES, table_to_pairs
from tests.golden.worked_examples import load_example

WEIGHTS = ("none", "linear", "quadratic")


def measure_answers(folder, ratings, weights="none", *options):
    """Run ``cli.py measure`` with large-sample intervals.

    ``ratings`` has one row per question and one answer per rater, None where missing.
    """
    path, out = folder / "ratings.csv", folder / "measures.json"
    lines = ["question_id,rater,kind,answer"]
    for question, answers in enumerate(ratings):
        lines += [
            f"{question},r{rater},reader,{int(answer)}"
            for rater, answer in enumerate(answers)
            if answer is not None
        ]
    path.write_text("\n".join(lines), encoding="utf-8")
    weighting = [] if weights == "none" else ["--weights", weights]
    assert main(["measure", str(path), "--out", str(out), "--bootstrap", "0", *options, *weighting]) == 0
    return json.loads(out.read_text(encoding="utf-8"))


def select_all_tasks(rows):
    return [row for row in rows if row["task"] == "all"]


def compute_standard_error(row, name, n):
    """Compute the standard error of a coefficient from the lower limit; the upper limit is cut at 1."""
    return (row[name] - row[f"{name}_low"]) / t.ppf(0.975, n - 1)


@pytest.mark.parametrize("name", TABLE_EXAMPLES)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.slow
def test_coefficients_of_two_raters_equal_the_reference(tmp_path, name, weights):
    data, expected, tolerance = load_example(name)
    pairs = (table_to_pairs(data["table"]) + 1).tolist()
    tables = measure_answers(tmp_path, pairs, weights)
    [pair], [group] = select_all_tasks(tables["agreement"]), select_all_tasks(tables["group"])
    n = expected["n"]
    kappa = expected[f"kappa_{'unweighted' if weights == 'none' else weights}"]
    assert (pair["n"], pair["observed"]) == (n, pytest.approx(expected["percent_agreement"], abs=tolerance))
    assert pair["kappa"] == pytest.approx(kappa["value"], abs=tolerance)
    if name == "edge_constant_rater":  # R prints SE 0, although there is nothing to estimate it from
        assert (pair["se"], pair["low"], pair["high"]) == (None, None, None)
        assert pair["note"].startswith("no interval: one rater uses a single category")
    else:
        assert pair["se"] == pytest.approx(kappa["se"], abs=tolerance)
        assert [pair["low"], pair["high"]] == pytest.approx(kappa["ci95_z"], abs=tolerance)
    ac = expected["gwet_ac1" if weights == "none" else f"gwet_ac2_{weights}"]
    assert [pair["ac1"], group["ac1"]] == pytest.approx([ac["value"]] * 2, abs=tolerance)
    assert (pair["ac1"] - pair["ac1_low"]) / 1.959964 == pytest.approx(ac["se"], rel=1e-6)
    if weights == "none":
        assert pair["brennan_prediger"] == pytest.approx(expected["brennan_prediger"]["value"], abs=tolerance)
        for column, key in (("fleiss", "scott_pi"), ("alpha", "krippendorff_alpha_nominal")):
            assert group[column] == pytest.approx(expected[key]["value"], abs=tolerance)
            se = compute_standard_error(group, column, n) * math.sqrt((n - 1) / n)
            assert se == pytest.approx(expected[key]["se"], abs=tolerance)


@pytest.mark.parametrize("name", GROUP_EXAMPLES)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_coefficients_of_a_group_of_raters_equal_the_reference(tmp_path, name, weights):
    data, expected, tolerance = load_example(name)
    [group] = select_all_tasks(measure_answers(tmp_path, data["ratings"], weights)["group"])
    suffix = "" if weights == "none" else f"_{weights}"
    columns = {
        "ac1" if weights == "none" else "ac2": "ac1",
        "fleiss": "fleiss",
        "conger": "conger",
        "pa": "percent",
    }
    columns |= {"kripp": "alpha"} if weights != "linear" else {}
    keys = {f"{key}{suffix}": column for key, column in columns.items()}
    n = sum(any(answer is not None for answer in row) for row in data["ratings"])
    compared = {key: column for key, column in keys.items() if key in expected["irrCAC_5dp"]}
    assert len(compared) >= 2
    for key, column in compared.items():
        reference = expected["irrCAC_5dp"][key]
        assert group[column] == pytest.approx(reference["value"], abs=tolerance / 2 + 1e-9), key
        assert compute_standard_error(group, column, n) == pytest.approx(reference["se"], abs=tolerance), key


def test_lights_and_the_exact_kappa_of_fleiss_1971_equal_the_reference(tmp_path):
    data, expected, tolerance = load_example("fleiss1971_diagnoses")
    [group] = select_all_tasks(measure_answers(tmp_path, data["ratings"])["group"])
    for column, key in (("fleiss", "fleiss_kappa"), ("conger", "conger_exact"), ("light", "light_kappa")):
        assert group[column] == pytest.approx(expected[key], abs=tolerance)


@pytest.mark.parametrize(
    ("weights", "metric"), [("none", "nominal"), ("linear", "ordinal"), ("quadratic", "interval")]
)
def test_krippendorffs_alpha_equals_the_reference(tmp_path, weights, metric):
    data, expected, tolerance = load_example("krippendorff2011")
    [group] = select_all_tasks(measure_answers(tmp_path, data["ratings"], weights)["group"])
    assert group["alpha"] == pytest.approx(expected["alpha"][metric], abs=tolerance)


def test_cochrans_q_of_three_drugs_equals_the_reference(tmp_path):
    data, expected, tolerance = load_example("cochran_q_drugs")
    binary = np.repeat([row for row, _ in data["patterns"]], [count for _, count in data["patterns"]], axis=0)
    path, out = tmp_path / "drugs.csv", tmp_path / "drugs.json"
    lines = ["question_id,rater,kind,answer"]
    lines += [f"{case},truth,reference,1" for case in range(len(binary))]
    lines += [f"{case},drug {drug},model,{binary[case, drug]}" for case, drug in np.ndindex(binary.shape)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["measure", str(path), "--out", str(out), "--bootstrap", "0"]) == 0
    tables = json.loads(out.read_text(encoding="utf-8"))
    [group] = select_all_tasks(tables["group"])
    assert [group["cochran_q"], group["q_df"], group["q_p"]] == pytest.approx(
        list(expected["Q"].values()), abs=tolerance
    )
    rows = {(row["a"], row["b"]): row for row in select_all_tasks(tables["paired"])}
    pairs = [rows[f"drug {a}", f"drug {b}"] for a, b in expected["pairs"]]
    assert [row["p_exact"] for row in pairs] == pytest.approx(expected["pairwise_exact"], abs=tolerance)
    assert [row["p_adjusted"] for row in pairs] == pytest.approx(expected["holm"], abs=tolerance)


def count_sample(folder, units):
    """Run ``cli.py counts`` on (stratum, size, value) of each sampled unit."""
    path, out = folder / "sample.csv", folder / "sample.json"
    lines = ["stratum,size,value", *(f"{stratum},{size},{value}" for stratum, size, value in units)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["counts", str(path), "--out", str(out)]) == 0
    [row] = json.loads(out.read_text(encoding="utf-8"))["stratified"]
    return row


def test_a_reviewed_sample_with_a_fully_judged_tier_equals_the_reference(tmp_path):
    data, expected, tolerance = load_example("stratified_quality_review")
    row = count_sample(
        tmp_path,
        [
            (tier["tier"], tier["N"], int(unit < tier["x"]))
            for tier in data["counts"]
            for unit in range(tier["n"])
        ],
    )
    reference = [expected["weighted_error_rate"], expected["fpc"]["se"]]
    assert [row["mean"], row["se"]] == pytest.approx(reference, abs=tolerance)


@pytest.mark.parametrize(
    ("name", "mean", "se"),
    [
        ("stratified_lohr_agstrat", "prop_lt200k", "se_prop_lt200k"),
        ("srs_lohr_agsrs", "prop_lt200k", "se_prop"),
    ],
)
def test_the_shares_of_small_counties_equal_the_reference(tmp_path, name, mean, se):
    data, expected, tolerance = load_example(name)
    acres = data["acres"] if "sizes" in data else {"all": data["acres"]}
    sizes = data.get("sizes") or {"all": data["size"]}
    row = count_sample(
        tmp_path,
        [(stratum, sizes[stratum], int(value < 200_000)) for stratum in sizes for value in acres[stratum]],
    )
    assert [row["mean"], row["se"]] == pytest.approx([expected[mean], expected[se]], abs=tolerance)
