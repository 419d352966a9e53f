"""The effective size of a weighted sample: the simple random sample that would be as precise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def kish_effective_size(weights: NDArray[np.float64]) -> float:
    """Compute Kish's effective size, which assumes that the rate does not depend on the weight.

    Args:
        weights: the weight of each question, above 0, shape (n,), n at least 1.

    Source: Kish L, Survey Sampling, 1965.

    >>> kish_effective_size(np.array([1.0, 1.0, 2.0]))
    2.6666666666666665
    """
    return float(weights.sum() ** 2 / (weights @ weights))


def effective_size(weights: NDArray[np.float64], *, rate: float, variance: float) -> float:
    """Compute the number of questions of a simple random sample with the same variance, at most Kish's.

    Without the limit, a sample whose few hits have small weights by chance would seem to be more precise.

    Args:
        weights: the weight of each question, above 0, shape (n,), n at least 1.
        rate: the estimated rate, above 0 and below 1.
        variance: the variance of the rate, above 0.

    Source: Korn EL, Graubard BI, Surv Methodol 1998;24:193-201.

    >>> effective_size(np.ones(100), rate=0.5, variance=0.005)
    50.0
    """
    return min(kish_effective_size(weights), rate * (1 - rate) / variance)
