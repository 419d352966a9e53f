"""The coverage of intervals of agreement: the short form of the grids in benchmarks/coverage_agreement.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binom

from benchmarks.coverage import TABLES as TABLES_OF_THE_PROGRAM
from benchmarks.coverage_agreement import simulate_groups, simulate_ordered, simulate_pairs
from benchmarks.coverage_rates import MINIMUM, simulation_error
from measures.group_agreement import Coefficient, agreement_coefficient
from measures.kappa_intervals import ac1_interval

DOCUMENT = Path(__file__).parents[2] / "docs" / "coverage.md"
TABLES = ("Agreement of two raters", "Agreement of a group", "Agreement on ordered answers")
#: Tables without marks, whose last column is the coverage of the interval that is shown.
UNMARKED = (
    "Kappa with four options",
    "Kappa with many answers",
    "Accuracy",
    "Difference of two raters on the same questions",
    "Estimates for a dataset: several questions per exam",
)


def find_uncovered(cells):
    return [(cell, name) for cell in cells for name in cell.hits if not cell.is_covered(name)]


@pytest.mark.slow
def test_kappa_and_ac1_of_two_raters_cover():
    cells = list(simulate_pairs(200, seed=3, sizes=(20, 50), prevalences=(0.02, 0.1)))
    assert [(cell, name) for cell, name in find_uncovered(cells) if name != "plain"] == []
    assert sum(name == "plain" for _, name in find_uncovered(cells)) > len(cells) / 2


@pytest.mark.slow
def test_the_coefficients_of_a_group_cover():
    cells = list(simulate_groups(100, seed=3, raters=(3,), sizes=(20,), prevalences=(0.02, 0.1)))
    assert [(cell, name) for cell, name in find_uncovered(cells) if name != "plain"] == []


@pytest.mark.slow
def test_weighted_coefficients_cover():
    cells = list(simulate_ordered(60, seed=3, raters=(2, 3), sizes=(50,), kappas=(0.4,)))
    assert find_uncovered(cells) == []


def make_ratings(questions, disagreements):
    """Two raters who give the same answers, except to the first ``disagreements`` questions."""
    ratings = np.zeros((questions, 2), dtype=np.int64)
    ratings[:disagreements, 1] = 1
    return ratings


@pytest.mark.parametrize("disagreements", [1, 3, 9])
def test_the_limits_of_few_disagreements_are_close_to_those_of_clopper_and_pearson(disagreements):
    n = 200
    percent = agreement_coefficient(
        make_ratings(n, disagreements), Coefficient.PERCENT, weights=np.eye(2), draws=20_000
    )
    exact = beta.ppf(0.025, disagreements, n - disagreements + 1)
    assert 1 - percent.high == pytest.approx(exact, rel=0.1)
    assert 1 - percent.low == pytest.approx(beta.ppf(0.975, disagreements + 1, n - disagreements), rel=0.05)


def test_ac1_covers_where_disagreements_are_rare():
    # Exact sum over the number of disagreements, which is binomial: 20 questions, .8 %. If the prior included
    # a disagreement, the interval for one disagreement (14 of 100 samples) would miss the true AC1 of .992.
    share, n = 0.00784, 20
    truth = 1 - share / (1 - 2 * 0.02 * 0.98)
    covered = 0.0
    for disagreements in range(4):
        ratings = make_ratings(n, disagreements)
        estimate = ac1_interval(ratings[:, 0], ratings[:, 1], weights=np.eye(2))
        if estimate.low is None or estimate.low <= truth <= estimate.high:
            covered += float(binom.pmf(disagreements, n, share))
    assert covered > 0.93


def read_sections():
    sections = DOCUMENT.read_text(encoding="utf-8").split("\n## ")
    return {section.partition("\n")[0]: section for section in sections}


@pytest.mark.parametrize("title", TABLES)
def test_no_interval_of_agreement_that_reports_show_is_below_the_minimum(title):
    # An interval that does not cover would have to be marked as approximate on the pages. Reports show no
    # agreement on fewer than 30 questions.
    marked = re.findall(r"^\|.*\d \*.*$", read_sections()[title], flags=re.MULTILINE)
    assert [row for row in marked if int(row.split("|")[2]) >= 30] == []


@pytest.mark.parametrize("title", UNMARKED)
def test_no_shown_interval_in_the_document_is_below_the_minimum(title):
    section = read_sections()[title]
    runs = int(re.search(r"Data sets per row: ([\d,]+)", section)[1].replace(",", ""))
    shown = [float(value) for value in re.findall(r"\| (\d\.\d{3}) \|$", section, flags=re.MULTILINE)]
    assert shown
    assert min(shown) >= MINIMUM - 2 * simulation_error(MINIMUM, runs)


def test_the_document_has_each_table_with_its_standard_error():
    sections = read_sections()
    for table in TABLES_OF_THE_PROGRAM:
        assert "standard error of a coverage of .95" in sections[table.title], table.title
        assert table.explanation in sections[table.title], table.title
