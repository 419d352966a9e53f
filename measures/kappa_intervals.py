"""Intervals of Cohen's kappa and Gwet's AC1 for one pair of raters: large-sample or posterior.

The large-sample interval (Fleiss, Cohen and Everitt) is used if both raters used every category ``ENOUGH``
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

from measures.agreement import CONFIDENCE, FEW, contingency
from measures.clusters import members
from measures.estimate import Estimate
from measures.pairs import ac1_pull, kappa_pull
from measures.posterior import posterior_draws

LARGE_SAMPLE, POSTERIOR = "large-sample", "posterior"
#: Answers in every category of both raters, and disagreements, that the large-sample interval needs.
ENOUGH = 50


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
    one_side = [int((margin > 0).sum()) == 1 for margin in (rows, columns)]
    if all(one_side):
        return Estimate(n=n, note="not defined: one category" if n > 1 else "not defined: one question only")
    if any(one_side):
        return Estimate(n=n, value=0.0, note="no interval: one rater uses a single category")
    value, pull = kappa_pull(table, weights)
    pulls = pull[first, second]
    se = _error(pulls, clusters)
    used = np.flatnonzero(rows + columns)
    fewest = min(int(rows[used].min()), int(columns[used].min()), n - int(np.trace(table)))
    few = f"fewer than {FEW} questions" if n < FEW else ""
    if fewest >= ENOUGH or not draws:
        return _large_sample(n, value, se, confidence, few)
    effect = _design_effect(pulls, se, clusters)
    limits = posterior_limits(
        table[np.ix_(used, used)] / effect,
        weights[np.ix_(used, used)],
        confidence=confidence,
        draws=draws,
        seed=seed,
    )
    return _posterior(n, value, se, limits, few)


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
    drawn = posterior_draws(counts, weights, draws=draws, seed=seed)
    observed = drawn.observed
    chance = np.sum((drawn.first @ weights) * drawn.second, axis=1)
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
    value, pull = ac1_pull(table, weights)
    pulls = pull[first, second]
    se, agreed = _error(pulls, clusters), int(np.trace(table))
    if not draws or k == 1 or min(n - agreed, agreed) >= ENOUGH:
        return _large_sample(n, value, se, confidence, "")
    drawn = posterior_draws(table / _design_effect(pulls, se, clusters), weights, draws=draws, seed=seed)
    overall = (drawn.first + drawn.second) / 2
    chance = float(weights.sum()) / (k * (k - 1)) * np.sum(overall * (1 - overall), axis=1)
    observed = drawn.observed
    limits = _quantiles((observed - chance) / (1.0 - chance), confidence)
    return _posterior(n, value, se, limits, "")


def _large_sample(n: int, value: float, se: float, confidence: float, note: str) -> Estimate:
    if se < 1e-12:
        return Estimate(n=n, value=value, se=0.0, note="no interval: there is no disagreement")
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * se
    return Estimate(
        n=n,
        value=value,
        se=se,
        low=max(-1.0, value - reach),
        high=min(1.0, value + reach),
        method=LARGE_SAMPLE,
        note=note,
    )


def _posterior(n: int, value: float, se: float, limits: tuple[float, float], note: str) -> Estimate:
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


def _error(pulls: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> float:
    """Standard error from each question's influence, summed by exam if questions share one."""
    if clusters is None:
        return math.sqrt(float(np.sum(pulls**2))) / len(pulls)
    member, _ = members(clusters)
    sums = np.bincount(member, weights=pulls)
    return math.sqrt(float(np.sum(sums**2))) / len(pulls)


def _design_effect(pulls: NDArray[np.float64], se: float, clusters: NDArray[np.int64] | None) -> float:
    """Variance by exam divided by that of independent questions, at least 1.

    Without a disagreement it cannot be estimated; the worst case is taken: an exam counts as one question.
    """
    if clusters is None:
        return 1.0
    alone = _error(pulls, None)
    return max(1.0, (se / alone) ** 2) if alone > 1e-12 else len(pulls) / members(clusters)[1]
