"""The mean of something measured on each question, with Student's interval by exam.

The error is that of the mean with the deviations summed by exam first (a ratio of sums), with one question an
exam the ordinary one. Degrees of freedom: exams less one.

Edge cases. Nothing: not defined. One question, or all of one exam: no interval. All alike: no interval, since
nothing is known of their spread.

Source: Cochran WG, Sampling Techniques, 3rd ed., 1977, ch. 9 (clusters as units, ratio to size).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from measures.clusters import members
from measures.proportions import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over ``n`` questions with its interval, in its unit; None with a ``note``."""

    n: int
    estimate: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def mean_by_cluster(
    values: Sequence[float] | NDArray[np.generic],
    clusters: Sequence[int] | NDArray[np.int64],
    *,
    least: float = -math.inf,
    most: float = math.inf,
    confidence: float = CONFIDENCE,
) -> Mean:
    """The mean of ``values``; ``clusters`` are the numbers of their exams, in the same order.

    What is measured lies between ``least`` and ``most``, and so do the limits.
    """
    if len(values) != len(clusters):
        raise ValueError(f"{len(values)} values, {len(clusters)} clusters")
    n = len(values)
    if n == 0:
        return Mean(n=0, estimate=None, note="not defined: nothing was given")
    given = np.asarray(values, dtype=np.float64)
    mean = float(given.mean())
    member, groups = members(clusters)
    if groups < 2:
        note = "no interval: one question only" if n == 1 else "no interval: all of one exam"
        return Mean(n=n, estimate=mean, note=note)
    sums = np.bincount(member, weights=given - mean)
    error = math.sqrt(groups / (groups - 1) * float(np.sum(sums**2))) / n
    if error < 1e-12:
        return Mean(n=n, estimate=mean, note="no interval: all are alike")
    reach = float(t.ppf(0.5 + confidence / 2, groups - 1)) * error
    return Mean(n=n, estimate=mean, low=max(least, mean - reach), high=min(most, mean + reach))
