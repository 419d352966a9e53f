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
    confidence: float = CONFIDENCE,
    draws: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Compute Cohen's kappa of two raters; the type of interval depends on the counts of the table.

    All reports use this kappa. Use :func:`measures.agreement.weighted_kappa` for comparisons with software
    that only has the large-sample interval.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: categories of the second rater, in the same order.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.
        clusters: the exam number of each question; None if all questions are independent.
        confidence: the confidence level of the interval.
        draws: the number of posterior draws; 0 to always use the large-sample interval.
        seed: the seed of the draws.

    Returns:
        Kappa, -1 to 1, and the method of its interval. If one rater uses a single category, kappa is 0 and
        has no interval. If both do, or if there is no question, kappa is not defined.

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
    """Compute equal-tailed limits of the posterior distribution of kappa.

    Args:
        counts: the counts of the table, shape (k, k), two categories or more; they need not be integers.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.
        confidence: the posterior probability between the limits.
        draws: the number of posterior draws.
        seed: the seed of the draws.

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
    """Compute Gwet's AC1 of two raters (AC2 with weights); the type of interval depends on the counts.

    Use instead of kappa if one category dominates: kappa is then low although raters agree.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: categories of the second rater, in the same order.
        weights: the agreement weights of the whole scale, shape (k, k), 1 on the diagonal.
        clusters: the exam number of each question; None if all questions are independent.
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
