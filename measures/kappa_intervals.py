"""Intervals of Cohen's kappa and Gwet's AC1 for one pair of raters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.agreement import CONFIDENCE, FEW
from measures.pairs import ac1_pull, kappa_pull

LARGE_SAMPLE = "large-sample"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its interval and the ``kind`` of it; what is not defined is None, ``note`` says
    why.
    """

    estimate: float | None = None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    kind: str | None = None
    note: str = ""


def kappa_interval(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
    bootstrap: int = 2000,
    seed: int = 0,
) -> Interval:
    """Kappa of two raters with the interval that holds at this prevalence and n."""
    del bootstrap, seed
    n, k = len(first), len(weights)
    if n == 0:
        return Interval(note="not defined: no question was answered by both")
    table = _table(first, second, k)
    one_side = [int((table.sum(axis=axis) > 0).sum()) == 1 for axis in (0, 1)]
    if all(one_side):
        return Interval(note="not defined: one category" if n > 1 else "not defined: one question only")
    if any(one_side):
        return Interval(estimate=0.0, note="no interval: one rater uses a single category")
    estimate, pull = kappa_pull(table, weights)
    se = _error(pull[first, second], clusters)
    if se < 1e-12:
        return Interval(estimate=estimate, se=0.0, note="no interval: there is no disagreement")
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * se
    return Interval(
        estimate=estimate,
        se=se,
        low=max(-1.0, estimate - reach),
        high=min(1.0, estimate + reach),
        kind=LARGE_SAMPLE,
        note=f"fewer than {FEW} questions" if n < FEW else "",
    )


def ac1_interval(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    weights: NDArray[np.float64],
    clusters: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
) -> Interval:
    """AC1 of two raters (AC2 with weights), with the large-sample interval."""
    n, k = len(first), len(weights)
    if n == 0:
        return Interval(note="not defined: no question was answered by both")
    estimate, pull = ac1_pull(_table(first, second, k), weights)
    se = _error(pull[first, second], clusters)
    if se < 1e-12:
        return Interval(estimate=estimate, se=0.0, note="no interval: there is no disagreement")
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * se
    return Interval(
        estimate=estimate,
        se=se,
        low=max(-1.0, estimate - reach),
        high=min(1.0, estimate + reach),
        kind=LARGE_SAMPLE,
    )


def _table(first: NDArray[np.int64], second: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    return np.bincount(first * k + second, minlength=k * k).reshape(k, k)


def _error(pulls: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> float:
    """Standard error from each question's pull, summed by exam where questions share one."""
    if clusters is not None:
        _, member = np.unique(clusters, return_inverse=True)
        sums = np.bincount(member, weights=pulls)
        return math.sqrt(float(np.sum(sums**2))) / len(pulls)
    return math.sqrt(float(np.sum(pulls**2))) / len(pulls)
