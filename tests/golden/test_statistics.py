"""Estimators of questions and raters against the worked examples of statistics/: published, recomputed in R.

Where R prints an error or interval for a constant rater, ours are undefined by definition. For the stratified
examples, estimate and error are compared; their intervals use other methods than ours.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

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
from measures.paired import cochran_q, holm, mcnemar, newcombe_paired, tango
from measures.pairs import ac1_influence, kappa_influence, kappas, pair_tables
from measures.proportions import clopper_pearson, wilson
from measures.strata import StratumCount, stratified_mean, stratified_rate
from tests.golden.worked_examples import FOLDER, example

TABLES = sorted(path.stem for path in FOLDER.glob("*.json") if '"table"' in path.read_text(encoding="utf-8"))
GROUPS = ["fleiss1971_diagnoses", "krippendorff2011"]
NAMES = {"kripp": "alpha", "bp": "brennan_prediger", "pa": "percent", "ac2": "ac1"}


def pairs_of(table):
    """One row per count of the table: the two raters' categories."""
    cells = [(row, column) for row, counts in enumerate(table) for column in range(len(counts))]
    return np.repeat(np.array(cells), np.ravel(table), axis=0)


def weights_of(k, name):
    """Agreement weights by the name that the examples use."""
    if name == "ordinal":  # Gwet's weights: by the number of pairs of categories between the two
        steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
        apart = (steps + 1) * steps / 2
        return 1 - apart / apart.max()
    return agreement_weights(k, Weights(name or "none"))


def test_every_example_is_used():
    used = {*TABLES, *GROUPS, "binom_ci_dev", "cochran_q_drugs", "icc_shrout_fleiss", "mcnemar_dev"}
    used |= {"mrmc_vandyke_auc", "srs_lohr_agsrs", "stratified_lohr_agstrat", "stratified_quality_review"}
    assert {path.stem for path in FOLDER.glob("*.json")} == used
    assert len(TABLES) == 8


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("weights", ["unweighted", "linear", "quadratic"])
def test_kappa_its_error_and_its_large_sample_interval(name, weights):
    data, expected, tolerance = example(name)
    answers = pairs_of(data["table"])
    k = len(data["table"])
    used = weights_of(k, "none" if weights == "unweighted" else weights)
    found = kappa_interval(answers[:, 0], answers[:, 1], weights=used, draws=0)
    wanted = expected[f"kappa_{weights}"]
    assert found.value == pytest.approx(wanted["value"], abs=tolerance)
    if name == "edge_constant_rater":  # R prints SE 0, although there is nothing to estimate it from
        assert (found.se, found.low, found.high) == (None, None, None)
        return
    assert found.se == pytest.approx(wanted["se"], abs=tolerance)
    assert [found.low, found.high] == pytest.approx(wanted["ci95_z"], abs=tolerance)


@pytest.mark.parametrize("name", TABLES)
def test_the_other_coefficients_of_two_raters(name):
    data, expected, tolerance = example(name)
    table = np.array(data["table"])
    answers, k, n = pairs_of(table), len(table), table.sum()
    assert np.trace(table) / n == pytest.approx(expected["percent_agreement"], abs=tolerance)
    for key, coefficient in (
        ("scott_pi", Coefficient.FLEISS),
        ("brennan_prediger", Coefficient.BRENNAN_PREDIGER),
        ("krippendorff_alpha_nominal", Coefficient.ALPHA),
        ("gwet_ac1", Coefficient.AC1),
    ):
        found = agreement_coefficient(answers, coefficient, weights=np.eye(k))
        assert found.value == pytest.approx(expected[key]["value"], abs=tolerance), key
        # The standard error of a table divides by n, that of a group by n - 1.
        by_n = found.se * np.sqrt((n - 1) / n)
        assert by_n == pytest.approx(expected[key]["se"], abs=tolerance), key
    for key, weights in (
        ("gwet_ac1", "none"),
        ("gwet_ac2_linear", "linear"),
        ("gwet_ac2_quadratic", "quadratic"),
    ):
        ac1, pull = ac1_influence(table, weights_of(k, weights))
        assert ac1 == pytest.approx(expected[key]["value"], abs=tolerance)
        assert np.sqrt((table * pull**2).sum()) / n == pytest.approx(expected[key]["se"], abs=tolerance)


def test_kappa_with_weights_of_ones_own():
    data, expected, tolerance = example("kappa_cohen1968")
    table, apart = np.array(data["table"]), np.array(expected["custom_disagreement_weights"])
    kappa, pull = kappa_influence(table, 1 - apart / apart.max())
    assert kappa == pytest.approx(expected["kappa_custom"]["value"], abs=tolerance)
    se = np.sqrt((table * pull**2).sum()) / table.sum()
    assert se == pytest.approx(expected["kappa_custom"]["se"], abs=tolerance)


@pytest.mark.parametrize("name", GROUPS)
def test_the_coefficients_of_a_group(name):
    data, expected, tolerance = example(name)
    ratings = np.array([[-1 if it is None else it - 1 for it in row] for row in data["ratings"]])
    k = int(ratings.max()) + 1
    for key, wanted in expected["irrCAC_5dp"].items():
        short, _, weights = key.partition("_")
        found = agreement_coefficient(
            ratings, Coefficient(NAMES.get(short, short)), weights=weights_of(k, weights or "none")
        )
        # the tolerance is half a unit of the fifth printed digit
        assert found.value == pytest.approx(wanted["value"], abs=tolerance / 2 + 1e-9), key
        assert found.se == pytest.approx(wanted["se"], abs=tolerance / 2 + 1e-9), key
        limits = [float(limit) for limit in wanted["ci95_t"].strip("()").split(",")]
        assert [found.low, found.high] == pytest.approx(limits, abs=0.0005 + 1e-9), key


def test_fleiss_light_and_the_categories_of_1971():
    data, expected, tolerance = example("fleiss1971_diagnoses")
    ratings = np.array(data["ratings"]) - 1
    plain = np.eye(5)
    fleiss = agreement_coefficient(ratings, Coefficient.FLEISS, weights=plain)
    assert fleiss.value == pytest.approx(expected["fleiss_kappa"], abs=tolerance)
    assert fleiss_z(ratings, k=5) == pytest.approx(expected["fleiss_z"], abs=tolerance)
    conger = agreement_coefficient(ratings, Coefficient.CONGER, weights=plain).value
    assert conger == pytest.approx(expected["conger_exact"], abs=tolerance)
    light, _ = kappas(pair_tables(ratings, list(combinations(range(6), 2)), k=5)[0], plain)
    assert light.mean() == pytest.approx(expected["light_kappa"], abs=tolerance)
    assert np.round(fleiss_by_category(ratings, k=5), 3).tolist() == expected["category_kappas_3dp"]


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_krippendorffs_alpha_with_missing_answers(metric):
    data, expected, tolerance = example("krippendorff2011")
    ratings = np.array([[-1 if it is None else it - 1 for it in row] for row in data["ratings"]])
    values = np.arange(1.0, 6.0)
    apart, together = np.abs(np.subtract.outer(values, values)), np.add.outer(values, values)
    # A weight is 1 minus the distance divided by the largest distance.
    distances = {"nominal": apart > 0, "interval": (apart / 4) ** 2, "ratio": (apart / together) ** 2 * 2.25}
    weights = ordinal_weights(ratings, k=5) if metric == "ordinal" else 1.0 - distances[metric]
    found = agreement_coefficient(ratings, Coefficient.ALPHA, weights=weights).value
    assert found == pytest.approx(expected["alpha"][metric], abs=tolerance)


def test_intervals_of_one_proportion():
    data, expected, tolerance = example("binom_ci_dev")
    for share in data:
        count, n = map(int, share.split("/"))
        for name, found in (
            ("wilson", wilson(count, n)),
            ("wilson_cc", wilson(count, n, continuity_corrected=True)),
            ("clopper", clopper_pearson(count, n)),
        ):
            assert [found.low, found.high] == pytest.approx(expected[share][name], abs=tolerance), name


@pytest.mark.parametrize("name", ["agresti_approval", "cavo2012"])
def test_mcnemar_tango_and_newcombe(name):
    data, expected, tolerance = example("mcnemar_dev")
    ((both, a_only), (b_only, neither)), wanted = data[name], expected[name]
    n = both + a_only + b_only + neither
    assert mcnemar(a_only, b_only) == pytest.approx((wanted["exact"], wanted["midp"]), abs=tolerance)
    assert (a_only - b_only) / n == pytest.approx(wanted["diff_p1_minus_p2"], abs=tolerance)
    assert tango(a_only, b_only, n) == pytest.approx(wanted["tango_ci"], abs=tolerance)
    newcombe = newcombe_paired(both, a_only, b_only, neither)
    assert newcombe == pytest.approx(wanted["newcombe10_ci"], abs=tolerance)


def test_cochran_q_and_its_pairs_by_holm():
    data, expected, tolerance = example("cochran_q_drugs")
    right = (
        np.repeat([row for row, _ in data["patterns"]], [count for _, count in data["patterns"]], axis=0) == 1
    )
    assert right.shape == (46, 3)
    q, degrees, p = cochran_q(right)
    assert (q, degrees, p) == pytest.approx(tuple(expected["Q"].values()), abs=tolerance)
    exact = [
        mcnemar(int((right[:, a] & ~right[:, b]).sum()), int((~right[:, a] & right[:, b]).sum()))[0]
        for a, b in expected["pairs"]
    ]
    assert exact == pytest.approx(expected["pairwise_exact"], abs=tolerance)
    assert holm(exact) == pytest.approx(expected["holm"], abs=tolerance)


def test_intraclass_correlation():
    data, expected, tolerance = example("icc_shrout_fleiss")
    found = intraclass(np.array(data["ratings"], dtype=float))
    assert tuple(each.icc_type for each in found) == tuple(expected["type"]) == ICC_TYPES
    for name, field in (("ICC", "estimate"), ("lower", "low"), ("upper", "high"), ("F", "ratio")):
        assert [getattr(each, field) for each in found] == pytest.approx(expected[name], abs=tolerance)


def test_a_simple_random_sample():
    data, expected, tolerance = example("srs_lohr_agsrs")
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
        found = stratified_mean([values], [data["size"]])
        assert [found.mean, found.se] == pytest.approx([mean, se], abs=tolerance)
        assert [found.low, found.high] == pytest.approx(interval, abs=tolerance)


def test_a_stratified_sample():
    data, expected, tolerance = example("stratified_lohr_agstrat")
    acres = [np.array(data["acres"][name], dtype=float) for name in data["sizes"]]
    sizes = list(data["sizes"].values())
    found = stratified_mean(acres, sizes)
    assert [found.mean, found.se] == pytest.approx(
        [expected["mean_acres92"], expected["se_acres92"]], abs=tolerance
    )
    assert [found.low, found.high] == pytest.approx(expected["ci95_t_df"][0], abs=tolerance)
    assert [found.total, found.total_se] == pytest.approx([expected["total"], expected["total_se"]])
    small = [(values < 200_000).astype(float) for values in acres]
    share = stratified_mean(small, sizes)
    wanted = [expected["prop_lt200k"], expected["se_prop_lt200k"]]
    assert [share.mean, share.se] == pytest.approx(wanted, abs=tolerance)
    counted = stratified_rate(
        [
            StratumCount(name=name, size=data["sizes"][name], reviewed=len(each), hits=int(each.sum()))
            for name, each in zip(data["sizes"], small, strict=True)
        ],
        seed=1,
    )
    assert [counted.estimate, counted.se] == pytest.approx(wanted, abs=tolerance)


def test_a_reviewed_sample_with_one_tier_judged_whole():
    data, expected, tolerance = example("stratified_quality_review")
    strata = [
        StratumCount(name=each["tier"], size=each["N"], reviewed=each["n"], hits=each["x"])
        for each in data["counts"]
    ]
    found = stratified_rate(strata, seed=1)
    assert found.estimate == pytest.approx(expected["weighted_error_rate"], abs=tolerance)
    assert found.se == pytest.approx(expected["fpc"]["se"], abs=tolerance)
    assert found.unweighted == pytest.approx(expected["unweighted_naive"], abs=tolerance)
