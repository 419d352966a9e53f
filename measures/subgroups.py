"""Weighted rates in a part of a sample, such as the share of errors among the questions that a check flags.

The rate of a part is a ratio of two weighted sums, because the size of the part is unknown. Its variance is
by Taylor linearisation, clustered by patient, with replacement (no finite-population correction) and without
strata, which errs towards wide intervals. The interval is Clopper and Pearson's at the effective sample size
(Korn and Graubard), at most that of Kish, (sum of weights)^2 / sum of squared weights. Without a hit or
without a miss the variance is 0; the effective size is then at most the number of patients.

Sources: Cochran WG, Sampling Techniques, 3rd ed., 1977, section 5A.14; Korn EL, Graubard BI, Surv Methodol
1998;24:193-201; Kish L, Survey Sampling, 1965.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.effective_size import effective_size, kish_effective_size
from measures.proportions import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgroupRate:
    """A rate, 0 to 1, in a part of the sample with ``n`` questions, ``hits`` of which have the property.

    ``estimate``, ``low`` and ``high`` are None if the part is empty.
    """

    n: int
    hits: int
    estimate: float | None = None
    low: float | None = None
    high: float | None = None


def subgroup_rate(
    hits: NDArray[np.bool_],
    in_part: NDArray[np.bool_],
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64],
    *,
    confidence: float = CONFIDENCE,
) -> SubgroupRate:
    """Estimate the rate of hits among the questions of a part.

    Args:
        hits: whether each question of the sample has the property, shape (n,).
        in_part: whether each question belongs to the part, shape (n,).
        weights: the inverse inclusion probability of each question, above 0, shape (n,).
        clusters: the patient or exam of each question, shape (n,).
        confidence: the confidence level of the interval.

    >>> values = np.array([True, True, False, True])
    >>> everyone = np.ones(4, dtype=np.bool_)
    >>> result = subgroup_rate(values, everyone, np.array([1.0, 1.0, 3.0, 1.0]), np.arange(4))
    >>> result.n, result.hits, result.estimate
    (4, 3, 0.5)
    """
    hits, weights, clusters = hits[in_part], weights[in_part], clusters[in_part]
    n, count = len(hits), int(hits.sum())
    if not n:
        return SubgroupRate(n=0, hits=0)
    total = weights.sum()
    rate = float(weights @ hits / total)
    size = _compute_effective_size(hits, weights, clusters, rate)
    tail = (1 - confidence) / 2
    low = scipy.special.betaincinv(rate * size, size - rate * size + 1, tail) if count else 0.0
    high = scipy.special.betaincinv(rate * size + 1, size - rate * size, 1 - tail) if count < n else 1.0
    return SubgroupRate(n=n, hits=count, estimate=rate, low=float(low), high=float(high))


def _compute_effective_size(
    hits: NDArray[np.bool_], weights: NDArray[np.float64], clusters: NDArray[np.int64], rate: float
) -> float:
    cluster_index, n_clusters = renumber_clusters(clusters)
    if rate in {0.0, 1.0} or n_clusters == 1:
        return min(kish_effective_size(weights), float(n_clusters))
    residuals = weights * (hits - rate) / weights.sum()
    by_cluster = np.bincount(cluster_index, weights=residuals)
    variance = n_clusters / (n_clusters - 1) * float(by_cluster @ by_cluster)
    return effective_size(weights, rate=rate, variance=variance)
