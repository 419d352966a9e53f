"""Intervals of Cohen's kappa and Gwet's AC1 for one pair of raters: large-sample or posterior.

The large-sample interval (Fleiss, Cohen and Everitt) is used if both raters used each category at least
``MIN_LARGE_SAMPLE_COUNT`` times and disagree at least as often. With smaller counts, its coverage can be as
low as 80 % instead of 95 % (docs/coverage.md), and it does not exist if the raters never disagree. The
posterior interval is then used: cell shares are drawn from their posterior (:mod:`measures.posterior`), and
the limits are the quantiles of the resulting kappas, widened if necessary to contain the estimate. ``method``
states which interval was used.

If several questions belong to one exam, the large-sample standard error sums their influences by exam. The
posterior divides the counts by the design effect.

Edge cases. If one rater is constant, kappa is 0 and has no interval. If both are constant, kappa is not
defined.

Sources: Fleiss JL, Cohen J, Everitt BS, Psychol Bull 1969;72:323-327; Gelman A et al., Bayesian Data
Analysis, 3rd ed., 2013, ch. 3 (Dirichlet posterior of a table). ``MIN_LARGE_SAMPLE_COUNT`` was chosen by
simulation (``benchmarks/coverage.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.agreement import CONFIDENCE, SMALL_SAMPLE, contingency
from measures.clusters import renumber_clusters
from measures.estimate import Estimate
from measures.pairs import ac1_influence, kappa_influence
from measures.posterior import draw_posterior

LARGE_SAMPLE, POSTERIOR = "large-sample", "posterior"
#: Minimum number of disagreements, and of answers of both raters in each category, for the large-sample
#: interval.
MIN_LARGE_SAMPLE_COUNT = 50


def kappa_interval(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    strata: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Compute Cohen's kappa of two raters; the type of interval depends on the counts of the table.

    All pages and reports use this kappa.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: categories of the second rater, in the same order.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.
        clusters: the exam number of each question; None if all questions are independent.
        strata: the stratum number of each question: an answer format with categories of its own. The result
            is then the mean over the strata, weighted by their numbers of questions. None for one stratum.
        confidence: the confidence level of the interval.
        draws: the number of posterior draws; 0 to always use the large-sample interval.
        seed: the seed of the draws.

    Returns:
        Kappa, -1 to 1, and the method of its interval. If one rater uses a single category, kappa is 0 and
        has no interval. If both do, or if there is no question, kappa is not defined.

    Source of the strata: Barlow W, Lai MY, Azen SP, Stat Med 1991;10:1465-1472.

    >>> first, second = np.repeat([0, 0, 1, 1], [60, 10, 15, 65]), np.repeat([0, 1, 0, 1], [60, 10, 15, 65])
    >>> round(kappa_interval(first, second, weights=np.eye(2), draws=0).value, 3)
    0.667
    """
    n = len(first)
    if n == 0:
        return Estimate(n=0, note="not defined: no question was answered by both")
    tables = _divide_into_tables(first, second, weights, strata)
    defined = [part for part in tables if not part.is_one_category]
    if not defined:
        return Estimate(n=n, note="not defined: one category" if n > 1 else "not defined: one question only")
    if all(part.has_constant_rater for part in defined):
        return Estimate(n=n, value=0.0, note="no interval: one rater uses a single category")
    influences = [(part, *kappa_influence(part.table, part.weights)) for part in defined]
    return _combine(
        influences,
        smallest_count=min(part.smallest_count for part in defined),
        note=f"fewer than {SMALL_SAMPLE} questions" if n < SMALL_SAMPLE else "",
        left_out=len(tables) - len(defined),
        draw=_draw_kappas,
        options=_Options(clusters=clusters, confidence=confidence, draws=draws, seed=seed),
    )


def ac1_interval(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    strata: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Compute Gwet's AC1 of two raters (AC2 with weights); the type of interval depends on the counts.

    Use instead of kappa if one category dominates: kappa is then low although raters agree.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: categories of the second rater, in the same order.
        weights: the agreement weights of the whole scale, shape (k, k), 1 on the diagonal.
        clusters: the exam number of each question; None if all questions are independent.
        strata: the stratum number of each question: an answer format with categories of its own. The result
            is then the mean over the strata, weighted by their numbers of questions. None for one stratum.
        confidence: the confidence level of the interval.
        draws: the number of posterior draws; 0 to always use the large-sample interval.
        seed: the seed of the draws.

    Returns:
        AC1, at most 1; 0 is chance level. It is not defined if there is no question.

    Source: Gwet KL, Br J Math Stat Psychol 2008;61:29-48.

    >>> first, second = np.repeat([0, 0, 1, 1], [20, 5, 10, 15]), np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    >>> round(ac1_interval(first, second, weights=np.eye(2), draws=0).value, 3)
    0.406
    """
    if len(first) == 0:
        return Estimate(n=0, note="not defined: no question was answered by both")
    tables = _divide_into_tables(first, second, weights, strata)
    return _combine(
        [(part, *ac1_influence(part.table, part.weights)) for part in tables],
        smallest_count=min(
            MIN_LARGE_SAMPLE_COUNT if len(part.weights) == 1 else min(part.disagreements, part.agreements)
            for part in tables
        ),
        note="",
        left_out=0,
        draw=_draw_ac1,
        options=_Options(clusters=clusters, confidence=confidence, draws=draws, seed=seed),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """The contingency table of one stratum, and the rows of its questions with the cell of each."""

    rows: NDArray[np.int64]
    cells: tuple[NDArray[np.int64], NDArray[np.int64]]
    table: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def agreements(self) -> int:
        """The number of questions with the same answer of both raters."""
        return int(np.trace(self.table))

    @property
    def disagreements(self) -> int:
        """The number of questions with different answers of the raters."""
        return len(self.rows) - self.agreements

    @property
    def used(self) -> NDArray[np.int64]:
        """The categories that a rater used."""
        return np.flatnonzero(self.table.sum(axis=0) + self.table.sum(axis=1))

    @property
    def is_one_category(self) -> bool:
        """Whether both raters are constant."""
        return all(int((self.table.sum(axis=axis) > 0).sum()) == 1 for axis in (0, 1))

    @property
    def has_constant_rater(self) -> bool:
        """Whether one of the raters is constant."""
        return any(int((self.table.sum(axis=axis) > 0).sum()) == 1 for axis in (0, 1))

    @property
    def smallest_count(self) -> int:
        """The smallest number of disagreements, and of answers of a rater in a category."""
        margins = (self.table.sum(axis=axis)[self.used] for axis in (0, 1))
        return min(self.disagreements, *(int(margin.min()) for margin in margins))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The options of an interval; see :func:`kappa_interval`."""

    clusters: NDArray[np.int64] | None
    confidence: float
    draws: int
    seed: int


def _divide_into_tables(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    weights: NDArray[np.float64],
    strata: NDArray[np.int64] | None,
) -> list[_Table]:
    """Return the table of each stratum; each of several strata has the categories that were used in it."""
    numbers = np.zeros(len(first), dtype=np.int64) if strata is None else strata
    distinct = np.unique(numbers)
    tables = []
    for number in distinct:
        rows = np.flatnonzero(numbers == number)
        used = np.arange(len(weights))
        if len(distinct) > 1:
            used = np.unique([first[rows], second[rows]])
        cells = (np.searchsorted(used, first[rows]), np.searchsorted(used, second[rows]))
        tables.append(
            _Table(
                rows=rows, cells=cells, table=contingency(*cells, k=len(used)),
                weights=weights[np.ix_(used, used)],
            )
        )  # fmt: skip
    return tables


def _combine(
    parts: Sequence[tuple[_Table, float, NDArray[np.float64]]],
    *,
    smallest_count: int,
    note: str,
    left_out: int,
    draw: Callable[[_Table, float, int, int], NDArray[np.float64]],
    options: _Options,
) -> Estimate:
    """Combine the strata's coefficients, weighted by their numbers of questions."""
    n = sum(len(table.rows) for table, _, _ in parts)
    value = sum(len(table.rows) * coefficient for table, coefficient, _ in parts) / n
    influences = np.concatenate([influence[table.cells] for table, _, influence in parts])
    rows = np.concatenate([table.rows for table, _, _ in parts])
    clusters = None if options.clusters is None else np.asarray(options.clusters)[rows]
    se = _standard_error(influences, clusters)
    if left_out:
        note = "; ".join(filter(None, [note, f"{left_out} answer format with one category left out"]))
    if smallest_count >= MIN_LARGE_SAMPLE_COUNT or not options.draws:
        return _large_sample_estimate(n, value, se, options.confidence, note)
    effect = _design_effect(influences, se, clusters)
    drawn = sum(
        len(table.rows) / n * draw(table, effect, options.draws, options.seed + index)
        for index, (table, _, _) in enumerate(parts)
    )
    return _posterior_estimate(n, value, se, _quantiles(np.asarray(drawn), options.confidence), note)


def _draw_kappas(table: _Table, effect: float, draws: int, seed: int) -> NDArray[np.float64]:
    used = np.ix_(table.used, table.used)
    weights = table.weights[used]
    posterior = draw_posterior(table.table[used] / effect, weights, draws=draws, seed=seed)
    chance = np.sum((posterior.first @ weights) * posterior.second, axis=1)
    kappas: NDArray[np.float64] = (posterior.observed - chance) / np.maximum(1.0 - chance, 1e-12)
    return kappas


def _draw_ac1(table: _Table, effect: float, draws: int, seed: int) -> NDArray[np.float64]:
    weights, k = table.weights, len(table.weights)
    if k == 1:
        return np.ones(draws)
    posterior = draw_posterior(table.table / effect, weights, draws=draws, seed=seed)
    overall = (posterior.first + posterior.second) / 2
    chance = float(weights.sum()) / (k * (k - 1)) * np.sum(overall * (1 - overall), axis=1)
    coefficients: NDArray[np.float64] = (posterior.observed - chance) / (1.0 - chance)
    return coefficients


def _large_sample_estimate(n: int, value: float, se: float, confidence: float, note: str) -> Estimate:
    if se < 1e-12:
        return Estimate(n=n, value=value, se=0.0, note="no interval: there is no disagreement")
    half_width = NormalDist().inv_cdf(0.5 + confidence / 2) * se
    return Estimate(
        n=n,
        value=value,
        se=se,
        low=max(-1.0, value - half_width),
        high=min(1.0, value + half_width),
        method=LARGE_SAMPLE,
        note=note,
    )


def _posterior_estimate(n: int, value: float, se: float, limits: tuple[float, float], note: str) -> Estimate:
    low, high = limits
    return Estimate(
        n=n,
        value=value,
        se=0.0 if se < 1e-12 else se,
        low=min(low, value),
        high=1.0 if value > 1 - 1e-12 else max(high, value),
        method=POSTERIOR,
        note=note,
    )


def _quantiles(values: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    low, high = np.quantile(values, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)


def _standard_error(influences: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> float:
    """Compute the standard error from each question's influence; influences are summed by exam."""
    if clusters is None:
        return math.sqrt(float(np.sum(influences**2))) / len(influences)
    cluster_index, _ = renumber_clusters(clusters)
    sums = np.bincount(cluster_index, weights=influences)
    return math.sqrt(float(np.sum(sums**2))) / len(influences)


def _design_effect(influences: NDArray[np.float64], se: float, clusters: NDArray[np.int64] | None) -> float:
    """Divide the variance by exam by the variance of independent questions; the result is at least 1.

    Without a disagreement the effect cannot be estimated. The worst case is then assumed: an exam counts as
    one question.
    """
    if clusters is None:
        return 1.0
    independent_se = _standard_error(influences, None)
    return (
        max(1.0, (se / independent_se) ** 2)
        if independent_se > 1e-12
        else len(influences) / renumber_clusters(clusters)[1]
    )
