"""Gives clusters of questions, such as exams, the numbers 0, 1, 2, …, to sum values by cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def renumber_clusters(clusters: Sequence[int] | NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Renumber clusters from 0 without gaps.

    Small non-negative numbers are ranked by counting, which is ten times as fast as sorting.

    Args:
        clusters: the cluster number of each question, shape (n,).

    Returns:
        The cluster index of each question, 0 to c - 1, shape (n,); and the number of clusters c.

    >>> renumber_clusters([7, 3, 7])
    (array([1, 0, 1]), 2)
    """
    numbers = np.asarray(clusters)
    if not numbers.size:
        return np.zeros(0, dtype=np.int64), 0
    if numbers.dtype.kind == "i" and numbers.min() >= 0 and numbers.max() < 8 * numbers.size + 1000:
        present = np.bincount(numbers) > 0
        rank = np.cumsum(present) - 1
        return rank[numbers].astype(np.int64), int(rank[-1]) + 1
    distinct, cluster_index = np.unique(numbers, return_inverse=True)
    return cluster_index.astype(np.int64), len(distinct)
