"""Estimators over readers and cases equal the worked examples of statistics/: published, recomputed in R."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import rankdata, ttest_1samp
from sklearn.metrics import precision_score, recall_score, roc_auc_score

from cli import main
from measures.mrmc import covariance_over_cases, obuchowski_rockette, u_statistic
from tests.golden.worked_examples import load_example


def load_van_dyke_ratings():
    """Truth (114,) and ratings 1 to 5 (treatments, cases, readers)."""
    data, expected, tolerance = load_example("mrmc_vandyke_auc")
    truth = np.array([int(digit) for digit in data["truth"]])
    ratings = np.array(
        [
            [[int(digit) for digit in reader] for reader in data[f"treatment {treatment}"]]
            for treatment in (1, 2)
        ]
    )
    return truth, ratings.transpose(0, 2, 1), expected, tolerance


def compute_auc(truth, ratings):
    """Area under the empirical ROC curve, by ranks."""
    ranks, positives = rankdata(ratings), int(truth.sum())
    return (ranks[truth == 1].sum() - positives * (positives + 1) / 2) / (
        positives * (len(truth) - positives)
    )


def compute_jackknife_covariance(truth, ratings, figure):
    """Figures (treatments, readers) and their covariance, by the jackknife over cases."""
    case_masks = [np.arange(len(truth)) != case for case in range(len(truth))]

    def compute_figures(truth, ratings):
        return np.array([[figure(truth, column) for column in treatment.T] for treatment in ratings])

    leave_one_out = np.stack(
        [compute_figures(truth[case_mask], ratings[:, case_mask]).ravel() for case_mask in case_masks]
    )
    n = len(truth)
    return compute_figures(truth, ratings), (n - 1) ** 2 / n * np.cov(leave_one_out.T)


def assert_result_equals(result, expected, tolerance):
    """Compare one result with the row of differences or means that R prints."""
    assert result.difference == pytest.approx(expected["Estimate"], abs=tolerance)
    assert result.se == pytest.approx(expected["StdErr"], abs=tolerance)
    assert result.df == pytest.approx(expected["df"], abs=1e-4)
    assert [result.low, result.high] == pytest.approx(expected["CI"][0], abs=tolerance)


def test_obuchowski_rockette_on_auc_equals_the_reference():
    truth, ratings, expected, tolerance = load_van_dyke_ratings()
    figures, covariance = compute_jackknife_covariance(truth, ratings, compute_auc)
    reference = expected["auc_jackknife"]
    # The analysis of one treatment on the differences per reader equals the analysis of two treatments.
    contrast = np.hstack([np.eye(5), -np.eye(5)])
    result = obuchowski_rockette(figures[0] - figures[1], contrast @ covariance @ contrast.T, cases=114)
    assert_result_equals(result, reference["diffs"], tolerance)
    assert result.p == pytest.approx(reference["diffs"]["p-value"], abs=tolerance)
    for index in (0, 1):
        block = covariance[5 * index : 5 * index + 5, 5 * index : 5 * index + 5]
        row = {name: values[index] for name, values in reference["means"].items()} | {
            "CI": [reference["means"]["CI"][index]]
        }
        assert_result_equals(obuchowski_rockette(figures[index], block, cases=114), row, tolerance)


@pytest.mark.parametrize(("name", "group"), [("sens_jackknife", 1), ("spec_jackknife", 0)])
def test_obuchowski_rockette_on_decisions_equals_the_reference(name, group):
    truth, ratings, expected, tolerance = load_van_dyke_ratings()
    correct = ((ratings >= 3) == (group == 1))[:, truth == group].astype(float)
    differences = correct[0] - correct[1]
    reference = expected[name]
    covariance = covariance_over_cases(differences)
    result = obuchowski_rockette(differences.mean(axis=0), covariance, cases=len(differences))
    assert_result_equals(result, reference["diffs"], tolerance)
    u_statistic_result = u_statistic(differences)
    assert u_statistic_result.se == pytest.approx(reference["diffs"]["StdErr"], abs=tolerance)
    assert u_statistic_result.df == pytest.approx(reference["diffs"]["df"], abs=1e-4)


# ------------------------------------------------------------------------------- through ``cli.py measure``


def write_van_dyke(path, *, model_reader=None):
    """Write the decisions "rating >= 3"; those of ``model_reader`` with treatment 1 become a model's."""
    truth, ratings, _, _ = load_van_dyke_ratings()
    lines = ["question_id,rater,kind,arm,answer"]
    lines += [f"{case},truth,reference,,{'yes' if positive else 'no'}" for case, positive in enumerate(truth)]
    for treatment, case, reader in np.ndindex(ratings.shape):
        answer = "yes" if ratings[treatment, case, reader] >= 3 else "no"
        if reader != model_reader:
            lines.append(f"{case},reader {reader + 1},reader,treatment {treatment + 1},{answer}")
        elif treatment == 0:
            lines.append(f"{case},model,model,,{answer}")
    path.write_text("\n".join(lines), encoding="utf-8")


def measure_file(path, *options):
    """Run ``cli.py measure`` on a file of ratings; return the tables."""
    out = path.with_suffix(".json")
    assert main(["measure", str(path), "--out", str(out), "--bootstrap", "0", *options]) == 0
    return json.loads(out.read_text(encoding="utf-8"))


def select(records, **criteria):
    return [row for row in records if all(row[name] == value for name, value in criteria.items())]


def test_readers_in_two_arms_count_once_in_the_comparison_with_a_model(tmp_path):
    write_van_dyke(tmp_path / "vandyke.csv", model_reader=4)
    tables = measure_file(tmp_path / "vandyke.csv")
    [comparison] = select(tables["mrmc"], arm="", random_readers=True)
    # If each of the four readers counted twice, p would be .046.
    assert (comparison["readers"], round(comparison["p"], 3)) == (4, 0.090)
    assert {row["q_df"] for row in select(tables["group"], kind="reader")} == {3}


def test_the_arms_of_van_dyke_are_compared_by_the_command(tmp_path):
    write_van_dyke(tmp_path / "vandyke.csv")
    [random_readers, u_statistic, fixed_readers, fixed_cases] = measure_file(tmp_path / "vandyke.csv")["arms"]
    truth, ratings, _, _ = load_van_dyke_ratings()
    correct = ((ratings >= 3) == (truth[:, None] == 1)).astype(float)
    differences = correct[0] - correct[1]
    assert random_readers["readers"] == 5
    assert random_readers["difference"] == pytest.approx(differences.mean())
    assert random_readers["p"] == pytest.approx(u_statistic["p"])
    # Fixed cases: a paired t test over readers. Fixed readers: a paired t test over the cases' means.
    assert fixed_cases["p"] == pytest.approx(ttest_1samp(differences.mean(axis=0), 0).pvalue)
    assert fixed_readers["p"] == pytest.approx(ttest_1samp(differences.mean(axis=1), 0).pvalue)


def write_van_dyke_scores(path):
    """Write the ratings 1 to 5 as scores, without answers."""
    truth, ratings, _, _ = load_van_dyke_ratings()
    lines = ["question_id,rater,kind,arm,answer,score"]
    lines += [
        f"{case},truth,reference,,{'yes' if positive else 'no'}," for case, positive in enumerate(truth)
    ]
    lines += [
        f"{case},reader {reader + 1},reader,treatment {treatment + 1},,{ratings[treatment, case, reader]}"
        for treatment, case, reader in np.ndindex(ratings.shape)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("measure", "reference", "options"),
    [
        ("auc", "auc_delong", []),
        ("auc", "auc_jackknife", ["--jackknife"]),
        ("sensitivity", "sens_jackknife", []),
        ("specificity", "spec_jackknife", []),
    ],
)
@pytest.mark.slow
def test_the_command_gives_the_published_comparison_of_van_dyke(tmp_path, measure, reference, options):
    write_van_dyke_scores(tmp_path / "vandyke.csv")
    tables = measure_file(tmp_path / "vandyke.csv", "--positive", "yes", "--threshold", "3", *options)
    _, _, expected, tolerance = load_van_dyke_ratings()
    differences, means = expected[reference]["diffs"], expected[reference]["means"]
    random_readers, _, fixed_readers, fixed_cases = select(tables["arms"], measure=measure)
    assert random_readers["difference"] == pytest.approx(differences["Estimate"], abs=tolerance)
    assert random_readers["se"] == pytest.approx(differences["StdErr"], abs=tolerance)
    assert random_readers["df"] == pytest.approx(differences["df"], abs=1e-4)
    assert random_readers["p"] == pytest.approx(differences["p-value"], abs=tolerance)
    assert [random_readers["low"], random_readers["high"]] == pytest.approx(
        differences["CI"][0], abs=tolerance
    )
    assert [random_readers["mean_a"], random_readers["mean_b"]] == pytest.approx(
        means["Estimate"], abs=tolerance
    )
    # MRMCaov's intervals of single treatments, "based only on data for the specified treatment"
    by_arm = [
        row for row in select(tables["reader_means"], measure=measure) if row["arm"] and row["random_readers"]
    ]
    for index, row in enumerate(by_arm):
        assert row["estimate"] == pytest.approx(means["Estimate"][index], abs=tolerance)
        assert row["se"] == pytest.approx(means["StdErr"][index], abs=tolerance)
        assert row["df"] == pytest.approx(means["df"][index], abs=1e-4)
        low, high = means["CI"][index]
        assert [row["low"], row["high"]] == pytest.approx([max(0, low), min(1, high)], abs=tolerance)
    assert len(by_arm) == 2
    # Fixed readers: 2 (Var - Cov1 + (r - 1)(Cov2 - Cov3)) / r, with the published components; fixed cases:
    # the mean square of treatment by reader.
    _, _, error, cov1, cov2, cov3 = expected[reference]["vcov"]["Estimate"]
    assert fixed_readers["se"] ** 2 == pytest.approx(2 * (error - cov1 + 4 * (cov2 - cov3)) / 5, abs=1e-9)
    assert fixed_cases["se"] ** 2 == pytest.approx(2 * expected[reference]["eq"]["MS(T:R)"] / 5, abs=1e-9)


def test_the_auc_of_each_reader_equals_scikit_learn(tmp_path):
    write_van_dyke_scores(tmp_path / "vandyke.csv")
    tables = measure_file(tmp_path / "vandyke.csv", "--positive", "yes", "--threshold", "3")
    truth, ratings, _, _ = load_van_dyke_ratings()
    for treatment, reader in np.ndindex(2, 5):
        name = f"reader {reader + 1} (treatment {treatment + 1})"
        by_measure = {row["measure"]: row for row in select(tables["diagnostic"], rater=name)}
        scores = ratings[treatment, :, reader]
        assert by_measure["auc"]["estimate"] == pytest.approx(roc_auc_score(truth, scores))
        for measure, (compute_score, label) in {
            "sensitivity": (recall_score, 1), "specificity": (recall_score, 0),
            "ppv": (precision_score, 1), "npv": (precision_score, 0),
        }.items():  # fmt: skip
            expected = compute_score(truth, (scores >= 3).astype(int), pos_label=label)
            assert by_measure[measure]["estimate"] == pytest.approx(expected)


def write_imrmc_scores(path):
    """Write the scores of the file that iMRMC analysed; return the expected values and their tolerance."""
    data, expected, tolerance = load_example("imrmc_two_modalities")
    cases, positive = data["cases"], data["positive cases"]
    lines = ["question_id,rater,kind,arm,answer,score"]
    lines += [f"{case},truth,reference,,{'yes' if case < positive else 'no'}," for case in range(cases)]
    lines += [
        f"{case},reader {reader},reader,{modality},,{int(case < one_count)}"
        for modality, counts in data["the first cases with score 1, by reader"].items()
        for reader, one_count in enumerate(counts, start=1)
        for case in range(cases)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return expected, tolerance


def test_the_command_gives_the_comparison_that_imrmc_prints(tmp_path):
    expected, tolerance = write_imrmc_scores(tmp_path / "imrmc.csv")
    tables = measure_file(tmp_path / "imrmc.csv", "--positive", "yes", "--threshold", "1")
    _, by_u_statistic, *_ = select(tables["arms"], measure="auc")
    assert by_u_statistic["method"] == "U-statistic"
    assert by_u_statistic["difference"] == pytest.approx(expected["difference"]["auc"], abs=tolerance)
    assert by_u_statistic["se"] ** 2 == pytest.approx(expected["difference"]["variance"], rel=1e-8)
    assert by_u_statistic["df"] == pytest.approx(expected["difference"]["df"], rel=1e-8)
    for name, modality in (("mean_a", "modalityA"), ("mean_b", "modalityB")):
        assert by_u_statistic[name] == pytest.approx(expected[modality]["auc"], abs=tolerance)


@pytest.mark.parametrize("modality", ["modalityA", "modalityB"])
def test_the_command_gives_the_auc_of_each_modality_that_imrmc_prints(tmp_path, modality):
    expected, tolerance = write_imrmc_scores(tmp_path / "imrmc.csv")
    tables = measure_file(tmp_path / "imrmc.csv", "--positive", "yes", "--threshold", "1")
    # If all readers read all cases, Obuchowski-Rockette with DeLong's covariance equals the U-statistics.
    [mean] = select(tables["reader_means"], measure="auc", arm=modality, random_readers=True)
    assert mean["estimate"] == pytest.approx(expected[modality]["auc"], abs=tolerance)
    assert mean["se"] ** 2 == pytest.approx(expected[modality]["variance"], rel=1e-8)
    assert mean["df"] == pytest.approx(expected[modality]["df"], rel=1e-8)
    for reader, (auc, variance) in enumerate(expected[modality]["readers"], start=1):
        [row] = select(tables["diagnostic"], measure="auc", rater=f"reader {reader} ({modality})")
        assert row["estimate"] == pytest.approx(auc, abs=tolerance)
        assert row["se"] ** 2 == pytest.approx(variance, rel=1e-4)  # printed with five digits
