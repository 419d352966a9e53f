"""Agreement of two raters on ordered categories: Cohen's weighted kappa, with an interval.

Held against scikit-learn (estimate) and statsmodels (standard error) by the tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.clusters import members

CONFIDENCE = 0.95
#: Below so many pairs the interval is a rough guide only, and says so.
FEW = 30


class Weights(StrEnum):
    """What a disagreement by d of k - 1 steps leaves of the agreement."""

    NONE = "none"  # nothing
    LINEAR = "linear"  # 1 - d / (k - 1)
    QUADRATIC = "quadratic"  # 1 - (d / (k - 1)) squared


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Kappa over ``n`` pairs; what is not defined is None, and ``note`` says why."""

    weights: Weights
    n: int
    estimate: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


def agreement_weights(k: int, weights: Weights) -> NDArray[np.float64]:
    """Weights of shape (k, k), 1 on the diagonal."""
    if weights is Weights.NONE or k == 1:
        return np.eye(k)
    steps = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / (k - 1)
    return 1.0 - (steps if weights is Weights.LINEAR else steps**2)


def contingency(first: Sequence[int], second: Sequence[int], *, k: int) -> NDArray[np.int64]:
    """Counts, shape (k, k): rows the first rater's category, columns the second's; categories 0 to k - 1."""
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
    """Cohen's weighted kappa of two raters, with the large-sample interval.

    The standard error is Fleiss, Cohen and Everitt's. Where several pairs are of one cluster (an exam,
    or one question judged by two people) their influences are summed by cluster before they are squared;
    with one pair a cluster the two are the same number.

    A rater who uses one category only: kappa 0, no interval. Both of them: not defined.

    Args:
        first: categories 0 to k - 1 of the first rater, one a pair.
        second: the second rater's, in the same order.
        k: number of categories, 2 or more.
        weights: none, linear or quadratic.
        clusters: number of each pair's cluster; None when all are independent.
        confidence: of the interval.

    Source: Cohen J, Psychol Bull 1968;70:213-220; Fleiss JL, Cohen J, Everitt BS, Psychol Bull
    1969;72:323-327.
    """
    if len(first) != len(second) or (clusters is not None and len(clusters) != len(first)):
        raise ValueError("raters and clusters must be of one length")
    n = len(first)
    if n == 0:
        return Kappa(weights=weights, n=0, estimate=None, note="not defined: no judgement has both values")
    constant = [len(set(rater)) == 1 for rater in (first, second)]
    if all(constant):
        note = "not defined: one category" if n > 1 else "not defined: one question only"
        return Kappa(weights=weights, n=n, estimate=None, note=note)
    if any(constant):
        return Kappa(weights=weights, n=n, estimate=0.0, note="no interval: one side uses a single category")
    estimate, influence = _influences(contingency(first, second, k=k), agreement_weights(k, weights))
    each = influence[np.asarray(first), np.asarray(second)]
    member, _ = members(np.arange(n) if clusters is None else clusters)
    se = math.sqrt(float(np.sum(np.bincount(member, weights=each) ** 2))) / n
    if se < 1e-12:  # rounding leaves a trace of nothing
        return Kappa(
            weights=weights, n=n, estimate=estimate, se=0.0, note="no interval: there is no disagreement"
        )
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * se
    return Kappa(
        weights=weights,
        n=n,
        estimate=estimate,
        se=se,
        low=max(-1.0, estimate - reach),
        high=min(1.0, estimate + reach),
        note=f"fewer than {FEW} pairs: the interval is a rough guide" if n < FEW else "",
    )


def _influences(table: NDArray[np.int64], weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Kappa, and what one more pair in each cell would pull it by (times n): shape (k, k), mean 0."""
    share = table / table.sum()
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    observed = float(np.sum(share * weights))
    chance = float(rows @ weights @ columns)
    kappa = (observed - chance) / (1 - chance)
    # Fleiss, Cohen and Everitt's w-bar: the mean weight of a row against the columns' shares, and reversed.
    of_row, of_column = weights @ columns, rows @ weights
    pull = weights - np.add.outer(of_row, of_column) * (1 - kappa) - (kappa - chance * (1 - kappa))
    return kappa, pull / (1 - chance)
