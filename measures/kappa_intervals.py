"""Intervals of Cohen's kappa and Gwet's AC1 for one pair of raters: large-sample or posterior.

The large-sample interval (Fleiss, Cohen and Everitt) is used if both raters used every category
``MIN_LARGE_SAMPLE_COUNT``
times or more and disagree at least as often. Otherwise it covers in as few as 80 % of samples instead of 95 %
(docs/coverage.md), and does not exist if the raters never disagree. The posterior interval is used then: the
shares of the table's cells are drawn (:mod:`measures.posterior`), and the limits are the quantiles of their
kappas, widened to contain the estimate. ``method`` names the one that was used.

If several questions are of one exam, the large-sample error sums their influences by exam, and the posterior
divides the counts by the design effect.

Edge cases. Kappa is 0 without an interval if one rater is constant, and not defined if both are.

Sources: Fleiss JL, Cohen J, Everitt BS, Psychol Bull 1969;72:323-327; Gelman A et al., Bayesian Data
Analysis, 3rd ed., 2013, ch. 3 (Dirichlet posterior of a table); the choice is by simulation,
``benchmarks/coverage.py``.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.agreement import CONFIDENCE, SMALL_SAMPLE, contingency
from measures.clusters import renumber_clusters
from measures.estimate import Estimate
from measures.pairs import ac1_influence, kappa_influence
from measures.posterior import draw_posterior

LARGE_SAMPLE, POSTERIOR = "large-sample", "posterior"
#: Answers in every category of both raters, and disagreements, that the large-sample interval needs.
MIN_LARGE_SAMPLE_COUNT = 50


def kappa_interval(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Cohen's kappa of two raters, with the interval whose coverage is right at this prevalence and n.

    This is the kappa of all reports. Use :func:`measures.agreement.weighted_kappa` to compare with software
    that gives the large-sample interval only.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: the second rater's, in the same order.
        weights: of agreement, shape (k, k), 1 on the diagonal.
        clusters: number of each question's exam; None when all are independent.
        confidence: of the interval.
        draws: of the posterior; 0 for the large-sample interval throughout.
        seed: of the draws.

    Returns:
        Kappa, -1 to 1, and the method of its interval. If one rater uses a single category: 0 without an
        interval. If both do, or without a question: not defined.

    >>> first, second = np.repeat([0, 0, 1, 1], [60, 10, 15, 65]), np.repeat([0, 1, 0, 1], [60, 10, 15, 65])
    >>> round(kappa_interval(first, second, weights=np.eye(2), draws=0).value, 3)
    0.667
    """
    n, k = len(first), len(weights)
    if n == 0:
        return Estimate(n=0, note="not defined: no question was answered by both")
    table = contingency(first, second, k=k)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    is_constant = [int((margin > 0).sum()) == 1 for margin in (rows, columns)]
    if all(is_constant):
        return Estimate(n=n, note="not defined: one category" if n > 1 else "not defined: one question only")
    if any(is_constant):
        return Estimate(n=n, value=0.0, note="no interval: one rater uses a single category")
    value, influence = kappa_influence(table, weights)
    influences = influence[first, second]
    se = _standard_error(influences, clusters)
    used = np.flatnonzero(rows + columns)
    smallest_count = min(int(rows[used].min()), int(columns[used].min()), n - int(np.trace(table)))
    note = f"fewer than {SMALL_SAMPLE} questions" if n < SMALL_SAMPLE else ""
    if smallest_count >= MIN_LARGE_SAMPLE_COUNT or not draws:
        return _large_sample_estimate(n, value, se, confidence, note)
    effect = _design_effect(influences, se, clusters)
    limits = posterior_limits(
        table[np.ix_(used, used)] / effect,
        weights[np.ix_(used, used)],
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    return _posterior_estimate(n, value, se, limits, note)


def posterior_limits(
    counts: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Equal-tailed limits of the posterior distribution of kappa.

    Args:
        counts: of the table, shape (k, k), two categories or more; they need not be whole numbers.
        weights: of agreement, shape (k, k), 1 on the diagonal.
        confidence: between the limits.
        draws: number of posterior draws.
        seed: of the draws.

    Returns:
        The lower and the upper limit, -1 to 1.
    """
    posterior = draw_posterior(counts, weights, draws=draws, seed=seed)
    observed = posterior.observed
    chance = np.sum((posterior.first @ weights) * posterior.second, axis=1)
    return _quantiles((observed - chance) / np.maximum(1.0 - chance, 1e-12), confidence)


def ac1_interval(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Gwet's AC1 of two raters (AC2 with weights), with the interval whose coverage is right.

    Use instead of kappa when one category dominates: kappa then drops although raters agree.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: the second rater's, in the same order.
        weights: of agreement over the whole scale, shape (k, k), 1 on the diagonal.
        clusters: number of each question's exam; None when all are independent.
        confidence: of the interval.
        draws: of the posterior; 0 for the large-sample interval throughout.
        seed: of the draws.

    Returns:
        AC1, at most 1; 0 is chance level. Not defined without a question.

    Source: Gwet KL, Br J Math Stat Psychol 2008;61:29-48.

    >>> first, second = np.repeat([0, 0, 1, 1], [20, 5, 10, 15]), np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    >>> round(ac1_interval(first, second, weights=np.eye(2), draws=0).value, 3)
    0.406
    """
    n, k = len(first), len(weights)
    if n == 0:
        return Estimate(n=0, note="not defined: no question was answered by both")
    table = contingency(first, second, k=k)
    value, influence = ac1_influence(table, weights)
    influences = influence[first, second]
    se, agreed = _standard_error(influences, clusters), int(np.trace(table))
    if not draws or k == 1 or min(n - agreed, agreed) >= MIN_LARGE_SAMPLE_COUNT:
        return _large_sample_estimate(n, value, se, confidence, "")
    posterior = draw_posterior(
        table / _design_effect(influences, se, clusters), weights, draws=draws, seed=seed
    )
    overall = (posterior.first + posterior.second) / 2
    chance = float(weights.sum()) / (k * (k - 1)) * np.sum(overall * (1 - overall), axis=1)
    observed = posterior.observed
    limits = _quantiles((observed - chance) / (1.0 - chance), confidence)
    return _posterior_estimate(n, value, se, limits, "")


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
    """Standard error from each question's influence, summed by exam if questions share one."""
    if clusters is None:
        return math.sqrt(float(np.sum(influences**2))) / len(influences)
    cluster_index, _ = renumber_clusters(clusters)
    sums = np.bincount(cluster_index, weights=influences)
    return math.sqrt(float(np.sum(sums**2))) / len(influences)


def _design_effect(influences: NDArray[np.float64], se: float, clusters: NDArray[np.int64] | None) -> float:
    """Variance by exam divided by that of independent questions, at least 1.

    Without a disagreement it cannot be estimated; the worst case is taken: an exam counts as one question.
    """
    if clusters is None:
        return 1.0
    independent_se = _standard_error(influences, None)
    return (
        max(1.0, (se / independent_se) ** 2)
        if independent_se > 1e-12
        else len(influences) / renumber_clusters(clusters)[1]
    )
