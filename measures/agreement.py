"""Cohen's weighted kappa of two raters, with the large-sample interval.

The tests compare the estimate with scikit-learn and the standard error with statsmodels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.pairs import kappa_influence

CONFIDENCE = 0.95
#: With fewer pairs, the note states that the interval is a rough guide.
SMALL_SAMPLE = 30


class Weights(StrEnum):
    """The weight of two answers that are d steps apart on a scale of k categories; equal answers have 1."""

    NONE = "none"  # 0
    LINEAR = "linear"  # 1 - d / (k - 1)
    QUADRATIC = "quadratic"  # 1 - (d / (k - 1)) squared


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Kappa of ``n`` pairs of answers, -1 to 1. If a value is None, ``note`` gives the reason."""

    weights: Weights
    n: int
    estimate: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


def agreement_weights(k: int, weights: Weights) -> NDArray[np.float64]:
    """Return the agreement weights of ordered categories.

    Args:
        k: the number of categories, 1 or more.
        weights: none for unordered categories, else linear or quadratic.

    Returns:
        Shape (k, k); 1 on the diagonal, 0 for the two ends of the scale.

    >>> agreement_weights(3, Weights.LINEAR)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    if weights is Weights.NONE or k == 1:
        return np.eye(k)
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / (k - 1)
    return 1.0 - (steps if weights is Weights.LINEAR else steps**2)


def contingency(
    first: Sequence[int] | NDArray[np.int64], second: Sequence[int] | NDArray[np.int64], *, k: int
) -> NDArray[np.int64]:
    """Return the contingency table of two raters.

    Args:
        first: categories 0 to k - 1 of the first rater, one per question.
        second: categories of the second rater, in the same order.
        k: the number of categories.

    Returns:
        Counts, shape (k, k); rows are the first rater's categories.

    Raises:
        ValueError: the raters differ in length, or a category is negative.

    >>> contingency([0, 0, 1], [0, 1, 1], k=2)
    array([[1, 1],
           [0, 1]])
    """
    cells = np.asarray(first, dtype=np.int64) * k + np.asarray(second, dtype=np.int64)
    counts: NDArray[np.int64] = np.bincount(cells, minlength=k * k).reshape(k, k)
    return counts


def weighted_kappa(
    first: Sequence[int],
    second: Sequence[int],
    *,
    k: int,
    weights: Weights,
    clusters: Sequence[int] | None = None,
    confidence: float = CONFIDENCE,
) -> Kappa:
    """Compute Cohen's weighted kappa of two raters, with the large-sample interval.

    The standard error is that of Fleiss, Cohen and Everitt. If several pairs belong to one cluster (an exam,
    or a question judged by two people), their influences are summed by cluster before they are squared. With
    one pair per cluster this makes no difference. Prefer :func:`measures.kappa_intervals.kappa_interval` if a
    category is rare or disagreements are few: the coverage of this interval is then too low.

    Args:
        first: categories 0 to k - 1 of the first rater, one per pair.
        second: categories of the second rater, in the same order.
        k: the number of categories, 2 or more.
        weights: none, linear or quadratic.
        clusters: the cluster number of each pair; None if all pairs are independent.
        confidence: the confidence level of the interval.

    Returns:
        Kappa, -1 to 1. If one rater uses a single category, kappa is 0 and has no interval. If both raters
        use a single category, kappa is not defined.

    Raises:
        ValueError: ``first``, ``second`` and ``clusters`` differ in length.

    Source: Cohen J, Psychol Bull 1968;70:213-220; Fleiss JL, Cohen J, Everitt BS, Psychol Bull
    1969;72:323-327.

    >>> weighted_kappa([0, 1, 2, 1], [0, 1, 1, 1], k=3, weights=Weights.LINEAR).estimate
    0.6
    """
    if len(first) != len(second) or (clusters is not None and len(clusters) != len(first)):
        raise ValueError("first, second and clusters must have the same length")
    n = len(first)
    if n == 0:
        return Kappa(weights=weights, n=0, estimate=None, note="not defined: no judgement has both values")
    constant = [len(set(rater)) == 1 for rater in (first, second)]
    if all(constant):
        note = "not defined: one category" if n > 1 else "not defined: one question only"
        return Kappa(weights=weights, n=n, estimate=None, note=note)
    if any(constant):
        return Kappa(weights=weights, n=n, estimate=0.0, note="no interval: one side uses a single category")
    estimate, influence = kappa_influence(contingency(first, second, k=k), agreement_weights(k, weights))
    pair_influence = influence[np.asarray(first), np.asarray(second)]
    cluster_index, _ = renumber_clusters(np.arange(n) if clusters is None else clusters)
    se = math.sqrt(float(np.sum(np.bincount(cluster_index, weights=pair_influence) ** 2))) / n
    if se < 1e-12:  # 0 except for rounding
        return Kappa(
            weights=weights, n=n, estimate=estimate, se=0.0, note="no interval: there is no disagreement"
        )
    half_width = NormalDist().inv_cdf(0.5 + confidence / 2) * se
    return Kappa(
        weights=weights,
        n=n,
        estimate=estimate,
        se=se,
        low=max(-1.0, estimate - half_width),
        high=min(1.0, estimate + half_width),
        note=f"fewer than {SMALL_SAMPLE} pairs: the interval is a rough guide" if n < SMALL_SAMPLE else "",
    )
