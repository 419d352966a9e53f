"""Estimators over readers and cases against the worked examples of statistics/: published, redone in R."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from measures.mrmc import covariance_over_cases, obuchowski_rockette, u_statistic
from tests.golden.worked_examples import example


def ratings_of_van_dyke():
    """Truth (114,) and ratings 1 to 5 (treatments, cases, readers)."""
    data, expected, tolerance = example("mrmc_vandyke_auc")
    truth = np.array([int(each) for each in data["truth"]])
    ratings = np.array(
        [[[int(each) for each in reader] for reader in data[f"treatment {at}"]] for at in (1, 2)]
    )
    return truth, ratings.transpose(0, 2, 1), expected, tolerance


def area(truth, ratings):
    """Area under the empirical ROC curve, by ranks."""
    ranks, sick = rankdata(ratings), int(truth.sum())
    return (ranks[truth == 1].sum() - sick * (sick + 1) / 2) / (sick * (len(truth) - sick))


def jackknife(truth, ratings, figure):
    """Figures (treatments, readers) and their covariance, by the jackknife over cases."""
    kept = [np.arange(len(truth)) != case for case in range(len(truth))]

    def figures(truth, ratings):
        return np.array([[figure(truth, column) for column in treatment.T] for treatment in ratings])

    left = np.stack([figures(truth[keep], ratings[:, keep]).ravel() for keep in kept])
    n = len(truth)
    return figures(truth, ratings), (n - 1) ** 2 / n * np.cov(left.T)


def check(found, wanted, tolerance):
    """Compare one result with the row of differences or means that R prints."""
    assert found.difference == pytest.approx(wanted["Estimate"], abs=tolerance)
    assert found.se == pytest.approx(wanted["StdErr"], abs=tolerance)
    assert found.df == pytest.approx(wanted["df"], abs=1e-4)
    assert [found.low, found.high] == pytest.approx(wanted["CI"][0], abs=tolerance)


def test_obuchowski_and_rockette_on_areas():
    truth, ratings, expected, tolerance = ratings_of_van_dyke()
    figures, covariance = jackknife(truth, ratings, area)
    wanted = expected["auc_jackknife"]
    # One treatment on the differences of two equals the two-treatment analysis, reader by reader.
    less = np.hstack([np.eye(5), -np.eye(5)])
    found = obuchowski_rockette(figures[0] - figures[1], less @ covariance @ less.T, cases=114)
    check(found, wanted["diffs"], tolerance)
    assert found.p == pytest.approx(wanted["diffs"]["p-value"], abs=tolerance)
    for at in (0, 1):
        block = covariance[5 * at : 5 * at + 5, 5 * at : 5 * at + 5]
        row = {name: values[at] for name, values in wanted["means"].items()} | {
            "CI": [wanted["means"]["CI"][at]]
        }
        check(obuchowski_rockette(figures[at], block, cases=114), row, tolerance)


@pytest.mark.parametrize(("name", "group"), [("sens_jackknife", 1), ("spec_jackknife", 0)])
def test_obuchowski_and_rockette_on_decisions_at_a_rating_of_3(name, group):
    truth, ratings, expected, tolerance = ratings_of_van_dyke()
    right = ((ratings >= 3) == (group == 1))[:, truth == group].astype(float)
    differences = right[0] - right[1]
    wanted = expected[name]
    covariance = covariance_over_cases(differences)
    found = obuchowski_rockette(differences.mean(axis=0), covariance, cases=len(differences))
    check(found, wanted["diffs"], tolerance)
    unbiased = u_statistic(differences)
    assert unbiased.se == pytest.approx(wanted["diffs"]["StdErr"], abs=tolerance)
    assert unbiased.df == pytest.approx(wanted["diffs"]["df"], abs=1e-4)
