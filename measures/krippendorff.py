"""Krippendorff's alpha by coincidences, for unordered and ordered answers, with missing answers.

Conventions. ``ratings`` has shape (questions, raters): category numbers, -1 where missing. A question with
fewer than two answers is left out. The coincidences of a question weigh 1 / (answers - 1). Of ordered
answers the ordinal metric takes the ranks from the answers themselves, not from the steps of a scale.

Edge case. One category only: not defined (None).

Source: Krippendorff K, Computing Krippendorff's alpha-reliability, University of Pennsylvania, 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Metric(StrEnum):
    """How far two categories are apart."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


def alpha(ratings: NDArray[np.int64], *, places: Sequence[float], metric: Metric) -> float | None:
    """Alpha of all raters, at most 1, 0 at chance; ``places`` are the categories' values, for the metric."""
    k = len(places)
    counts = np.stack([(ratings == category).sum(axis=1) for category in range(k)], axis=1).astype(float)
    counts = counts[counts.sum(axis=1) >= 2]
    weights = 1.0 / (counts.sum(axis=1) - 1.0)
    coincidences = (counts * weights[:, None]).T @ counts - np.diag(weights @ counts)
    totals = coincidences.sum(axis=1)
    distance = _distance(totals, np.asarray(places, dtype=float), metric)
    expected = float(totals @ distance @ totals) / (totals.sum() - 1.0) if totals.sum() > 1 else 0.0
    if expected <= 0:
        return None
    return 1.0 - float(np.sum(coincidences * distance)) / expected


def _distance(
    totals: NDArray[np.float64], places: NDArray[np.float64], metric: Metric
) -> NDArray[np.float64]:
    apart = np.abs(np.subtract.outer(places, places))
    match metric:
        case Metric.NOMINAL:
            return (apart > 0).astype(np.float64)
        case Metric.INTERVAL:
            return np.asarray(apart**2)
        case Metric.RATIO:
            sums = np.abs(np.add.outer(places, places))
            return np.where(sums > 0, apart / np.where(sums > 0, sums, 1.0), 0.0) ** 2
        case Metric.ORDINAL:
            # How many answers lie from one category to the other, half of each end.
            middles = np.cumsum(totals) - totals / 2
            return np.asarray(np.subtract.outer(middles, middles) ** 2)
