"""Shares and means of many columns by group, with intervals clustered by patient.

A column holds the values of one model. A group holds the questions that share one value of a property. Sums
by cluster are computed as one product of a sparse matrix with the columns. Estimates and intervals are those
of :mod:`measures.proportions` and :mod:`measures.means`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.means import Mean, mean_from_sums
from measures.proportions import CONFIDENCE, Proportion, share_from_sums

Matrix = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ClusterGroups:
    """The division of q questions into g groups, and of each group into clusters (patients or exams).

    Args:
        clusters: the cluster number of each question, shape (q,).
        groups: the group of each question, 0 to g - 1; -1 for a question that is left out. Shape (q,).
        count: the number of groups g; a group may be empty.
    """

    clusters: NDArray[np.int64]
    groups: NDArray[np.int64]
    count: int

    @cached_property
    def _parts(self) -> tuple[scipy.sparse.csr_array, NDArray[np.int64]]:
        """The parts: the matrix that sums over the questions of each part, and the group of each part.

        A part is one cluster within one group.
        """
        rows = np.flatnonzero(self.groups >= 0)
        order = rows[np.lexsort((self.clusters[rows], self.groups[rows]))]
        groups, clusters = self.groups[order], self.clusters[order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (groups[1:] != groups[:-1]) | (clusters[1:] != clusters[:-1])
        starts = np.append(np.flatnonzero(is_first), len(order))
        shape = (len(starts) - 1, len(self.groups))
        matrix = scipy.sparse.csr_array((np.ones(len(order)), order, starts), shape=shape)
        return matrix, groups[is_first]

    @cached_property
    def _group_matrix(self) -> scipy.sparse.csr_array:
        """The matrix that sums over the parts of each group."""
        groups = self._parts[1]
        starts = np.searchsorted(groups, np.arange(self.count + 1))
        return scipy.sparse.csr_array(
            (np.ones(len(groups)), np.arange(len(groups)), starts), shape=(self.count, len(groups))
        )

    def sum_by_part(self, values: NDArray[np.generic]) -> Matrix:
        """Return the sum of each column by cluster within group; ``values`` has shape (q, m)."""
        return np.asarray(self._parts[0] @ np.ascontiguousarray(values, dtype=np.float64))

    def sum_by_group(self, part_sums: NDArray[np.generic]) -> Matrix:
        """Return the sum of each column by group, shape (g, m)."""
        return np.asarray(self._group_matrix @ np.ascontiguousarray(part_sums, dtype=np.float64))

    def count_clusters(self, known: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the number of clusters with a known value, shape (g, m); ``known`` has shape (q, m)."""
        return self.sum_by_group(self.sum_by_part(known) > 0).astype(np.int64)

    def repeat_by_part(self, by_group: Matrix) -> Matrix:
        """Return, for each part, the values of its group."""
        return by_group[self._parts[1]]


def shares_by_group(
    correct: NDArray[np.integer], groups: ClusterGroups, *, confidence: float = CONFIDENCE
) -> list[list[Proportion]]:
    """Compute the share of ones of each column in each group.

    Use :func:`measures.proportions.wilson_by_cluster` for a single column and group; the results are equal.

    Args:
        correct: 1, 0, or -1 for unknown (left out), shape (q, m).
        groups: the groups and clusters of the questions.
        confidence: the confidence level of the intervals.

    Returns:
        The shares by group and column.

    >>> groups = ClusterGroups(clusters=np.array([0, 0, 1, 1]), groups=np.zeros(4, dtype=np.int64), count=1)
    >>> [[share]] = shares_by_group(np.array([[1], [1], [0], [0]]), groups)
    >>> (share.estimate, round(share.low, 3), round(share.high, 3))
    (0.5, 0.069, 0.931)
    """
    n, total, clusters, squares = _sum_columns(np.maximum(correct, 0), correct >= 0, groups)
    return [
        [
            share_from_sums(
                int(total[g, m]), int(n[g, m]), clusters=int(clusters[g, m]), squares=float(squares[g, m]),
                confidence=confidence,
            )
            for m in range(correct.shape[1])
        ]
        for g in range(groups.count)
    ]  # fmt: skip


def means_by_group(
    values: Matrix,
    groups: ClusterGroups,
    *,
    minimum: float = -np.inf,
    maximum: float = np.inf,
    confidence: float = CONFIDENCE,
) -> list[list[Mean]]:
    """Compute the mean of each column in each group, without unknown values (NaN).

    Use :func:`measures.means.mean_by_cluster` for a single column and group; the results are equal.

    Args:
        values: the values, shape (q, m).
        groups: the groups and clusters of the questions.
        minimum: the smallest possible value; the lower limit is never below it.
        maximum: the largest possible value; the upper limit is never above it.
        confidence: the confidence level of the intervals.

    Returns:
        The means by group and column.
    """
    known = ~np.isnan(values)
    n, total, clusters, squares = _sum_columns(np.where(known, values, 0.0), known, groups)
    return [
        [
            mean_from_sums(
                float(total[g, m]), int(n[g, m]), n_clusters=int(clusters[g, m]),
                squares=float(squares[g, m]), minimum=minimum, maximum=maximum, confidence=confidence,
            )
            for m in range(values.shape[1])
        ]
        for g in range(groups.count)
    ]  # fmt: skip


def _sum_columns(
    values: NDArray[np.generic], known: NDArray[np.bool_], groups: ClusterGroups
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return numbers of values, totals, numbers of clusters, and sums of the clusters' squared deviations.

    Each has shape (g, m).
    """
    part_n, part_total = groups.sum_by_part(known), groups.sum_by_part(values)
    n, total = groups.sum_by_group(part_n), groups.sum_by_group(part_total)
    mean = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
    deviations = part_total - groups.repeat_by_part(mean) * part_n
    return n, total, groups.sum_by_group(part_n > 0), groups.sum_by_group(deviations**2)
