"""Agreement weights of ordered categories, and the contingency table of two raters."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95
#: With fewer questions, the note of a coefficient of agreement states that they are few.
SMALL_SAMPLE = 30


class Weights(StrEnum):
    """The weight of two answers that are d steps apart on a scale of k categories; equal answers have 1."""

    NONE = "none"  # 0
    LINEAR = "linear"  # 1 - d / (k - 1)
    QUADRATIC = "quadratic"  # 1 - (d / (k - 1)) squared


def agreement_weights(k: int, weights: Weights) -> NDArray[np.float64]:
    """Return the agreement weights of ordered categories.

    Args:
        k: the number of categories, 1 or more.
        weights: none for unordered categories, else linear or quadratic.

    Returns:
        Shape (k, k); 1 on the diagonal, 0 for the pair of the lowest and the highest category.

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
