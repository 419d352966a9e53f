"""The mean over questions of one value per question, with Student's interval clustered by exam.

The mean is treated as a ratio estimator: deviations are first summed by exam. With one question per exam, the
standard error is the ordinary standard error of a mean. The degrees of freedom are the number of exams minus
one.

Edge cases. If there are no values, the mean is not defined. There is no interval for one question, for a
single exam, or if all values are equal.

Source: Cochran WG, Sampling Techniques, 3rd ed., 1977, ch. 9 (clusters as units, ratio to size).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.proportions import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """The mean of ``n`` questions and its interval, in the unit of the values.

    If a value is None, ``note`` gives the reason.
    """

    n: int
    estimate: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def mean_by_cluster(
    values: Sequence[float] | NDArray[np.generic],
    clusters: Sequence[int] | NDArray[np.int64],
    *,
    minimum: float = -math.inf,
    maximum: float = math.inf,
    confidence: float = CONFIDENCE,
) -> Mean:
    """Compute the mean over questions, with Student's interval clustered by exam.

    Use this function for ratings and times. Use :func:`measures.proportions.wilson_by_cluster` for shares of
    correct answers.

    Args:
        values: one value per question, in any unit.
        clusters: the exam number of each question, in the same order.
        minimum: the smallest possible value; the lower limit is never below it.
        maximum: the largest possible value; the upper limit is never above it.
        confidence: the confidence level of the interval.

    Returns:
        The mean in the unit of the values. If there are no values, it is not defined. It has no interval for
        a single exam, or if all values are equal.

    Raises:
        ValueError: ``values`` and ``clusters`` differ in length.

    >>> result = mean_by_cluster([1, 2, 3, 4], [0, 1, 2, 3])
    >>> (result.estimate, round(result.low, 2), round(result.high, 2))
    (2.5, 0.45, 4.55)
    """
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values, but {len(clusters)} clusters")
    n = len(values)
    array = np.asarray(values, dtype=np.float64)
    total = float(array.sum())
    cluster_index, n_clusters = renumber_clusters(clusters)
    sums = np.bincount(cluster_index, weights=array - total / n) if n else array
    return mean_from_sums(
        total, n, n_clusters=n_clusters, squares=float(np.sum(sums**2)), minimum=minimum, maximum=maximum,
        confidence=confidence,
    )  # fmt: skip


def mean_from_sums(
    total: float,
    n: int,
    *,
    n_clusters: int,
    squares: float,
    minimum: float = -math.inf,
    maximum: float = math.inf,
    confidence: float = CONFIDENCE,
) -> Mean:
    """Compute the result of :func:`mean_by_cluster` from sums.

    Args:
        total: the sum of the values.
        n: the number of values.
        n_clusters: the number of clusters.
        squares: the sum over clusters of the squared sum of deviations from the mean.
        minimum: the smallest possible value.
        maximum: the largest possible value.
        confidence: the confidence level of the interval.
    """
    if n == 0:
        return Mean(n=0, estimate=None, note="not defined: no values")
    mean = total / n
    if n_clusters < 2:
        note = "no interval: one question only" if n == 1 else "no interval: one exam only"
        return Mean(n=n, estimate=mean, note=note)
    error = math.sqrt(n_clusters / (n_clusters - 1) * squares) / n
    if error < 1e-12:
        return Mean(n=n, estimate=mean, note="no interval: all values are equal")
    half_width = float(scipy.special.stdtrit(n_clusters - 1, 0.5 + confidence / 2)) * error
    return Mean(n=n, estimate=mean, low=max(minimum, mean - half_width), high=min(maximum, mean + half_width))
