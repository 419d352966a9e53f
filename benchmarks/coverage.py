"""Simulates the coverage of the confidence intervals that the app shows, and of plain intervals.

Target: each interval that is shown as 95 % has a coverage of at least .93. Each row has 2,000 simulated data
sets, or a fraction of that number where the intervals are expensive. Run
``python -m benchmarks.coverage [RUNS] [--only TITLE] [--out docs/coverage.md]``; with ``--only``, one table
is computed and replaced in the document. The CPU budget of 2,000 runs is 45 minutes on one core, of which the
three tables of agreement take 30.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import norm

from benchmarks import coverage_agreement, coverage_draws, coverage_rates
from measures.kappa_intervals import kappa_interval
from measures.mrmc import compare_with_model
from measures.paired import compare_paired
from measures.power import PowerAssumptions, simulate_differences
from measures.proportions import wilson, wilson_by_cluster
from measures.results import MrmcComparison

SEED = 20
#: The smallest number of data sets per row.
MINIMUM_RUNS = 50
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A section of the document; each row has ``runs // divisor`` data sets, at least MINIMUM_RUNS."""

    title: str
    explanation: str
    head: tuple[str, ...]
    rows: Callable[[int], Iterator[Row]]
    divisor: int = 1


def main(arguments: list[str]) -> None:
    """Print the tables or write the document."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.coverage",
        description="Simulate the coverage of the intervals that the app shows. The CPU budget of 2,000 runs "
        "is 45 minutes on one core for all tables, 30 of which are for the three tables of agreement; it is "
        "proportional to the runs.",
    )
    parser.add_argument("runs", type=int, nargs="?", default=2000, help="simulated data sets per row (2000)")
    parser.add_argument(
        "--only", choices=[table.title for table in TABLES], metavar="TITLE",
        help="compute one table and keep the others of the document",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, help="write the document; without it, print the tables")
    args = parser.parse_args(arguments)
    runs, only, out = args.runs, args.only, args.out
    sections = {table.title: _render_section(table, runs) for table in TABLES if only in (None, table.title)}
    introduction = INTRODUCTION
    if only is not None and out is not None:
        _, *stored_sections = out.read_text(encoding="utf-8").rstrip("\n").split("\n\n## ")
        sections = {text.partition("\n")[0]: f"## {text}" for text in stored_sections} | sections
    page = (
        "\n\n".join([introduction, *(sections[table.title] for table in TABLES if table.title in sections)])
        + "\n"
    )
    if out is not None:
        out.write_text(page, encoding="utf-8")
    else:
        print(page)


def _render_section(table: Table, runs: int) -> str:
    started_at = time.monotonic()
    per_row = max(MINIMUM_RUNS, runs // table.divisor)
    error = coverage_rates.simulation_error(0.95, per_row)
    lines = [
        f"## {table.title}",
        "",
        table.explanation,
        f"Data sets per row: {per_row:,} (standard error of a coverage of .95: {error:.3f}).",
        "",
        f"| {' | '.join(table.head)} |",
        f"|{'---|' * len(table.head)}",
    ]
    for row in table.rows(per_row):
        lines.append(f"| {' | '.join(row)} |")
        print(table.title, *row, f"{time.monotonic() - started_at:.0f} s", flush=True)
    return "\n".join(lines)


def options_rows(runs: int) -> Iterator[Row]:
    """Simulate Cohen's kappa of two raters on questions with four options, evenly and unevenly chosen."""
    random = np.random.default_rng(SEED)
    for name, shares in (("even", [0.25] * 4), ("uneven", [0.7, 0.2, 0.08, 0.02])):
        for row in _simulate_kappa_coverage(np.array(shares), (40, 200), runs, random):
            yield name, *row


def answers_rows(runs: int) -> Iterator[Row]:
    """Simulate kappa with more than ten answers, whose empty cells are drawn together."""
    random = np.random.default_rng(SEED)
    for answers in (12, 40):
        frequencies = 1 / np.arange(1, answers + 1)
        for row in _simulate_kappa_coverage(frequencies / frequencies.sum(), (60, 200), runs, random):
            yield f"{answers}", *row


def _simulate_kappa_coverage(
    shares: np.ndarray, sizes: tuple[int, ...], runs: int, random: np.random.Generator
) -> Iterator[Row]:
    """Return kappa, n, and the coverage of the plain and the shown interval for raters with these shares."""
    k, weights = len(shares), np.eye(len(shares))
    for kappa in (0.3, 0.6, 0.85):
        cells = kappa * np.diag(shares) + (1 - kappa) * np.outer(shares, shares)
        for n in sizes:
            plain_hits, shown_hits = [], []
            for seed, cell_counts in enumerate(random.multinomial(n, cells.ravel(), size=runs)):
                first, second = np.divmod(np.repeat(np.arange(k * k), cell_counts), k)
                plain_interval = kappa_interval(first, second, weights=weights, draws=0)
                shown_interval = kappa_interval(first, second, weights=weights, draws=1000, seed=seed)
                plain_hits.append(_contains(plain_interval.low, plain_interval.high, kappa))
                shown_hits.append(_contains(shown_interval.low, shown_interval.high, kappa))
            yield f"{kappa}", f"{n}", _format_coverage(plain_hits), _format_coverage(shown_hits)


def paired_rows(runs: int) -> Iterator[Row]:
    """Simulate two raters' accuracies on the same questions, independent and with four questions per exam."""
    random = np.random.default_rng(SEED)
    truth = 0.8384 - 0.7727
    for correlation in (0.35, 0.8):
        for n in (50, 100, 200):
            for per_exam in (1, 4):
                exam = np.arange(n) // per_exam
                plain_hits, shown_hits = [], []
                for _ in range(runs):
                    a, b = _simulate_raters(random, exam, (0.8384, 0.7727), correlation)
                    differences = a.astype(float) - b
                    plain_hits.append(
                        abs(differences.mean() - truth) <= 1.96 * differences.std() / math.sqrt(n)
                    )
                    difference = compare_paired(a, b, clusters=exam)
                    shown_hits.append(_contains(difference.low, difference.high, truth))
                yield (
                    f"{correlation}",
                    f"{n}",
                    f"{per_exam}",
                    _format_coverage(plain_hits),
                    _format_coverage(shown_hits),
                )


def accuracy_rows(runs: int) -> Iterator[Row]:
    """Simulate one rater's accuracy with independent questions and with four questions per exam."""
    random = np.random.default_rng(SEED)
    for accuracy in (0.5, 0.8, 0.95):
        for n in (100, 200):
            for per_exam in (1, 4):
                exam = np.arange(n) // per_exam
                plain_hits, shown_hits = [], []
                for _ in range(runs):
                    (hits,) = _simulate_raters(random, exam, (accuracy,), 0.0)
                    plain_interval = wilson(int(hits.sum()), n)
                    shown_interval = wilson_by_cluster(hits.tolist(), exam.tolist())
                    plain_hits.append(_contains(plain_interval.low, plain_interval.high, accuracy))
                    shown_hits.append(_contains(shown_interval.low, shown_interval.high, accuracy))
                yield (
                    f"{accuracy}",
                    f"{n}",
                    f"{per_exam}",
                    _format_coverage(plain_hits),
                    _format_coverage(shown_hits),
                )


def mrmc_rows(runs: int) -> Iterator[Row]:
    """Simulate readers against a model on 200 cases, fully crossed and with half of the cases per reader."""
    random = np.random.default_rng(SEED)
    for readers in (3, 5, 10):
        for spread in (0.0, 0.02, 0.04, 0.06):
            expected = PowerAssumptions(reader_accuracy=0.7727, model_accuracy=0.8384, spread=spread)
            truth = expected.reader_accuracy - expected.model_accuracy
            crossed_hits, partial_hits, fixed_hits = [], [], []
            for _ in range(runs):
                differences = simulate_differences(expected, random, readers=readers, cases=200, studies=1)[0]
                crossed_hits.append(_covers(_compare_to_wrong_model(differences), truth))
                is_read = random.permuted(np.tile(np.arange(200) < 100, (readers, 1)), axis=1).T
                partial_hits.append(
                    _covers(_compare_to_wrong_model(np.where(is_read, differences, np.nan)), truth)
                )
                fixed_hits.append(_covers(_compare_to_wrong_model(differences, random_readers=False), truth))
            yield (
                f"{readers}",
                f"{spread * 100:.0f}",
                _format_coverage(crossed_hits),
                _format_coverage(partial_hits),
                _format_coverage(fixed_hits),
            )


def _simulate_raters(
    random: np.random.Generator, exam: np.ndarray, accuracies: tuple[float, ...], correlation: float
) -> list[np.ndarray]:
    """Simulate results from latent normal variables, partly shared by raters and partly by exam."""
    common = random.standard_normal(len(exam))
    results = []
    for accuracy in accuracies:
        exam_effect = random.standard_normal(int(exam.max()) + 1)[exam]
        own_effect = exam_effect + random.standard_normal(len(exam))
        latent = math.sqrt(correlation) * common + math.sqrt((1 - correlation) / 2) * own_effect
        results.append(latent < norm.ppf(accuracy))
    return results


def _compare_to_wrong_model(differences: np.ndarray, *, random_readers: bool = True) -> MrmcComparison:
    """Compute a comparison for given differences, by using a model that is always wrong."""
    return compare_with_model(differences, np.zeros(len(differences)), random_readers=random_readers)


def _covers(comparison: MrmcComparison, truth: float) -> bool:
    return _contains(comparison.low, comparison.high, truth)


def _contains(low: float | None, high: float | None, truth: float) -> bool:
    """Whether the interval contains the value; a missing interval does not."""
    return low is not None and high is not None and low <= truth <= high


def _format_coverage(hits: list[bool]) -> str:
    return f"{np.mean(hits):.3f}"


INTRODUCTION = """# Coverage of the confidence intervals

The *coverage* of a 95 % interval is how often it contains the true value. It was computed with simulated
data sets. *Plain* is the usual large-sample interval, *shown* is the interval that Overread reports. Each
section states the number of data sets per row and the standard error of the simulation.
Written by `python -m benchmarks.coverage --out docs/coverage.md`."""

TABLES: tuple[Table, ...] = (
    Table(
        "Agreement of two raters",
        """Cohen's kappa and Gwet's AC1 are computed for two categories and exchangeable raters. *n
defined* is the number of data sets in which both raters used both categories; AC1 is defined in all data
sets. Plain: Fleiss, Cohen and Everitt; without a disagreement this interval does not exist, which counts
as a miss. Shown: the plain interval if both raters used every category at least 50 times and disagreed at
least 50 times, otherwise the posterior; the record's `interval` names the kind. *Posterior* is the share
of data sets with the posterior interval of kappa. Marks in all tables: * is below .93 by more than two
standard errors, + is above .97, which is conservative.""",
        ("n", "prevalence", "kappa", "n defined", "kappa, plain", "kappa", "posterior", "AC1"),
        coverage_agreement.pair_rows,
    ),
    Table(
        "Kappa with four options",
        """The raters choose the options evenly (.25 each) or unevenly (.70, .20, .08, .02). Plain and
shown as above.""",
        ("options", "kappa", "n", "plain", "shown"),
        options_rows,
    ),
    Table(
        "Kappa with many answers",
        """Raters give more than ten different answers, as in questions with several correct options or
free text. The second answer is half as common as the first, the third a third as common, and so on. Plain
and shown as above; the posterior's empty cells are drawn together.""",
        ("answers", "kappa", "n", "plain", "shown"),
        answers_rows,
    ),
    Table(
        "Agreement of a group",
        """There are two categories and exchangeable raters. *n defined* is the number of data sets in
which both categories occur; AC1 is defined in all data sets. Plain: Fleiss' kappa with Student's interval
and Gwet's standard error. Shown: the plain interval if each category was used for at least 50 questions
and at least 50 questions have a disagreement, otherwise the posterior of `measures/group_posterior.py`.""",
        (
            "raters",
            "n",
            "prevalence",
            "kappa",
            "n defined",
            "Fleiss, plain",
            "Fleiss",
            "Conger",
            "alpha",
            "AC1",
        ),
        coverage_agreement.group_rows,
        divisor=2,
    ),
    Table(
        "Agreement on ordered answers",
        """There are four ordered answers, given evenly (.25 each) or unevenly (.70, .20, .08, .02). Kappa
with linear and quadratic weights is computed for two raters. Alpha with linear weights is Krippendorff's
ordinal alpha. Shown: by the same rule as above. If a value of a row is below .93 by more than two standard
errors, an independent simulation of five times as many data sets replaces the row. The new row is shown
even if a value is again below .93. Below 30 questions, `measure` notes "fewer than 30 questions" and the
pages show the value in grey.""",
        (
            "raters",
            "n",
            "answers",
            "kappa",
            "kappa, linear",
            "kappa, quadratic",
            "Conger, linear",
            "alpha, linear",
            "alpha, quadratic",
            "AC2, linear",
        ),
        coverage_agreement.ordered_rows,
        divisor=4,
    ),
    Table(
        "Accuracy",
        "Plain: Wilson. Shown: Wilson at the effective sample size if questions share an exam.",
        ("accuracy", "n", "questions per exam", "plain", "shown"),
        accuracy_rows,
    ),
    Table(
        "Difference of two raters on the same questions",
        """Accuracies .8384 and .7727. Plain: Wald. Shown: Tango, at the effective sample size if
questions share an exam.""",
        ("latent correlation", "n", "questions per exam", "plain", "shown"),
        paired_rows,
    ),
    Table(
        "Readers against a model",
        """There are 200 cases. The readers have a mean accuracy of .7727 and a spread between them; the
model has an accuracy of .8384. The latent correlation is .5 between readers and .35 with the model.
Crossed: Obuchowski-Rockette with Hillis' degrees of freedom. Half: every reader reads 100 of the cases,
U-statistic. Fixed: an interval for these readers only. The table shows how often it contains the mean of
all possible readers; it is not intended for this mean if readers differ.""",
        ("readers", "spread, points", "crossed", "half", "fixed"),
        mrmc_rows,
    ),
    Table(
        "Estimates for a dataset: methods",
        """This table summarises the cells of the next table, without its column 0 %. *Below .93* is the
number of cells whose coverage is below .93 by more than two standard errors of the simulation. *Above .97*
is the number of conservative cells. *Width* is the geometric mean of the width, relative to the interval
that is shown. *At 0 %* is the lowest value of the column 0 % of the next table. The methods are: Jeffreys,
with a prior of half a hit in each stratum. Spread, with a prior of half a hit in all strata together.
Hierarchical, with the pooled rate as prior of each stratum and the weight of two questions. Wilson, and
Korn and Graubard, at the effective sample size by the stratified variance. Shown is Korn and Graubard's
interval with the rules of `measures/strata.py`.""",
        ("method", "mean", "lowest", "below .93", "above .97", "width", "at 0 %"),
        coverage_rates.method_rows,
    ),
    Table(
        "Estimates for a dataset: coverage",
        """The table gives the coverage of the shown interval, by true rate in the dataset. Samples are
drawn without replacement; each round of sampling has its own strata. *Judged* is the number of judged
questions per stratum and round. *Sizes* has four values. Equal: equal sizes and rates. Higher in small:
rates are eight times as high in the smallest stratum as in the largest, which has eight times as many
questions. Higher in large: the reverse. Judged unevenly: equal rates, but the strata have a fifth, one or
two times the number of judged questions. At 0 % the coverage is always complete, so the column 0 % judges
the upper limit instead: its value is the probability of a hit if the true rate is the upper limit of a
sample without a hit. No cell is below .93 by more than two standard errors, so no estimate is marked as
approximate.""",
        (
            "strata",
            "rounds",
            "judged",
            "sizes",
            *(f"{rate:.1%}".replace(".0%", "%") for rate in coverage_rates.RATES),
        ),
        coverage_rates.cell_rows,
    ),
    Table(
        "Estimates for a dataset: several questions per exam",
        """Each exam has four questions with correlated results (latent correlation .5), in one stratum or
across strata of equal size. Plain: questions are treated as independent. Shown: with the design effect.""",
        ("strata", "judged", "true rate", "across strata", "plain", "shown"),
        coverage_rates.exam_rows,
    ),
    Table(
        "Estimates for a dataset: draws by risk",
        """There are 12,000 questions, four per exam, in strata of unequal size with different error rates.
They are drawn evenly over the strata, half uniformly and half by risk. The odds of an error increase
fourfold with each of four levels of the risk; if the risk is misleading, the odds decrease. *At every
look*: up to 800 questions drawn by risk are reviewed in random order. The interval is computed after 50
questions and after every further 25, until it is within 2 points (rate 1 %), 3 points (3 %) or 5 points
(10 %). This design uses a fifth of the data sets. *Judged* is the mean number of judged questions. The
simulation of populations, draws and order does not use the code of the app. *By patient*: questions are
drawn by risk, with ten exams per patient and strongly correlated errors; intervals are clustered by
patient. HT: Horvitz-Thompson. PPI: prediction-powered inference.""",
        ("design", "rate", "strata", "judged", "HT", "PPI", "± HT, points", "± PPI, points"),
        coverage_draws.draw_rows,
        divisor=2,
    ),
)


if __name__ == "__main__":
    main(sys.argv[1:])
