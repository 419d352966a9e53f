"""Proportions with Wilson intervals, for independent questions and for questions clustered by exam."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion:
    """The share of ``count`` in ``n``.

    Estimate and limits are 0 to 1. If they are None, ``note`` gives the reason.
    """

    count: int
    n: int
    estimate: float | None
    low: float | None
    high: float | None
    note: str = ""


def wilson(
    count: int, n: int, *, confidence: float = CONFIDENCE, continuity_corrected: bool = False
) -> Proportion:
    """Compute the share of ``count`` in ``n`` independent questions, with Wilson's score interval.

    Use :func:`wilson_by_cluster` if several questions belong to one exam.

    Args:
        count: the number of hits, 0 to n.
        n: the number of questions; with 0 the share is not defined.
        confidence: the confidence level of the interval.
        continuity_corrected: whether to apply Newcombe's continuity correction, which makes the interval
            wider; for comparison with published tables.

    Returns:
        Share and limits, 0 to 1.

    Raises:
        ValueError: the count is not 0 to n.

    Source: Wilson EB, J Am Stat Assoc 1927;22:209-212. Newcombe RG, Stat Med 1998;17:857-872.

    >>> result = wilson(166, 198)
    >>> (round(result.estimate, 4), round(result.low, 4), round(result.high, 4))
    (0.8384, 0.7808, 0.8831)
    """
    _check_count(count, n)
    if n == 0:
        return _build_undefined_proportion()
    low, high = (
        _compute_continuity_corrected_limits(count, n, confidence)
        if continuity_corrected
        else wilson_limits(count, n, confidence)
    )
    return Proportion(count=count, n=n, estimate=count / n, low=low, high=high)


def clopper_pearson(count: int, n: int, *, confidence: float = CONFIDENCE) -> Proportion:
    """Compute the share of ``count`` in ``n``, with the exact interval.

    The coverage is never below the confidence level, so the interval is wider than others. Use it only if it
    is required.

    Args:
        count: the number of hits, 0 to n.
        n: the number of questions; with 0 the share is not defined.
        confidence: the confidence level of the interval.

    Returns:
        Share and limits, 0 to 1.

    Raises:
        ValueError: the count is not 0 to n.

    Source: Clopper CJ, Pearson ES, Biometrika 1934;26:404-413.

    >>> result = clopper_pearson(2, 10)
    >>> (round(result.low, 3), round(result.high, 3))
    (0.025, 0.556)
    """
    return _compute_beta_interval(count, n, (count, n - count + 1), (count + 1, n - count), confidence)


def wilson_by_cluster(
    hits: Sequence[bool] | NDArray[np.bool_],
    clusters: Sequence[int] | NDArray[np.int64],
    *,
    confidence: float = CONFIDENCE,
) -> Proportion:
    """Compute the share of hits among questions that may share a cluster (an exam).

    The interval is Wilson's at the effective size n / d. The design effect d is the variance by clusters
    divided by the variance of independent questions, at least 1. With one question per cluster the result is
    that of :func:`wilson`. The same is true if all questions or none are hits, because d cannot be estimated.

    Args:
        hits: whether each question is a hit.
        clusters: the cluster number of each question, in the same order.
        confidence: the confidence level of the interval.

    Returns:
        Share and limits, 0 to 1; not defined if there is no question.

    Raises:
        ValueError: ``hits`` and ``clusters`` differ in length.

    Source: Korn EL, Graubard BI, Surv Methodol 1998;24:193-201, with Wilson's instead of their interval.

    >>> result = wilson_by_cluster([True, True, False, False], [0, 0, 1, 1])
    >>> (result.estimate, round(result.low, 3), round(result.high, 3))
    (0.5, 0.069, 0.931)
    """
    if len(hits) != len(clusters):
        raise ValueError(f"{len(hits)} questions, but {len(clusters)} clusters")
    values: NDArray[np.float64] = np.asarray(hits, dtype=np.float64)
    count, n = int(values.sum()), len(values)
    cluster_index, n_clusters = renumber_clusters(clusters)
    sums = np.bincount(cluster_index, weights=values - count / n) if n else values
    return share_from_sums(
        count, n, clusters=n_clusters, squares=float(np.sum(sums**2)), confidence=confidence
    )


def share_from_sums(
    count: int, n: int, *, clusters: int, squares: float, confidence: float = CONFIDENCE
) -> Proportion:
    """Compute the result of :func:`wilson_by_cluster` from sums.

    Args:
        count: the number of hits.
        n: the number of questions.
        clusters: the number of clusters.
        squares: the sum over clusters of the squared sum of deviations from the share.
        confidence: the confidence level of the interval.
    """
    independent_share = wilson(count, n, confidence=confidence)
    if count in (0, n) or clusters == n:
        return independent_share
    if clusters == 1:
        return replace(
            independent_share, note="one exam only: the interval treats its questions as independent"
        )
    share = count / n
    cluster_variance = clusters / (clusters - 1) * squares / n**2
    independent_variance = share * (1 - share) / (n - 1)
    design_effect = max(1.0, cluster_variance / independent_variance)
    low, high = wilson_limits(count / design_effect, n / design_effect, confidence)
    return Proportion(count=count, n=n, estimate=share, low=low, high=high)


def _compute_beta_interval(
    count: int, n: int, low: tuple[float, float], high: tuple[float, float], confidence: float
) -> Proportion:
    _check_count(count, n)
    if n == 0:
        return _build_undefined_proportion()
    tail = (1 - confidence) / 2
    return Proportion(
        count=count,
        n=n,
        estimate=count / n,
        low=0.0 if count == 0 else float(scipy.special.betaincinv(*low, tail)),
        high=1.0 if count == n else float(scipy.special.betaincinv(*high, 1 - tail)),
    )


def _compute_continuity_corrected_limits(count: int, n: int, confidence: float) -> tuple[float, float]:
    z, share = NormalDist().inv_cdf(0.5 + confidence / 2), count / n
    centre_term, denominator = 2 * count + z**2, 2 * (n + z**2)
    lower_term = z**2 - 2 - 1 / n + 4 * share * (n * (1 - share) + 1)
    upper_term = z**2 + 2 - 1 / n + 4 * share * (n * (1 - share) - 1)
    low = 0.0 if count == 0 else (centre_term - 1 - z * math.sqrt(lower_term)) / denominator
    high = 1.0 if count == n else (centre_term + 1 + z * math.sqrt(upper_term)) / denominator
    return max(0.0, low), min(1.0, high)


def _build_undefined_proportion() -> Proportion:
    return Proportion(count=0, n=0, estimate=None, low=None, high=None, note="not defined: n is 0")


def wilson_limits(count: float, n: float, confidence: float) -> tuple[float, float]:
    """Compute the limits of Wilson's interval; ``count`` and ``n`` may be effective sizes, not integers."""
    # statsmodels also uses the lower tail, so the last digit is the same.
    z, share = -float(scipy.special.ndtri((1 - confidence) / 2)), count / n
    scale = 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / scale
    half_width = z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / scale
    # Rounding errors would give 1e-18 for no hits and 1 + 1e-16 for all hits.
    return (0.0 if count == 0 else middle - half_width), (1.0 if count == n else middle + half_width)


def _check_count(count: int, n: int) -> None:
    if not 0 <= count <= n:
        raise ValueError(f"count must be 0 to {n}, not {count}")
