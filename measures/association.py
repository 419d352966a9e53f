"""Association between two classifications of questions, with intervals that respect clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.clusters import renumber_clusters

_RESAMPLES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """Cramér's V, 0 to 1, with the limits of its interval; None with a ``note`` if it is not defined."""

    n: int
    estimate: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


def cramers_v(table: NDArray[np.float64] | NDArray[np.int64]) -> float:
    """Compute Cramér's V of two classifications, corrected for bias (near 0 without association).

    Args:
        table: counts, shape (rows, columns).

    Returns:
        0 to 1; NaN if fewer than two rows or columns have a count.

    Source: Bergsma W, J Korean Stat Soc 2013;42:323-328.

    >>> cramers_v(np.array([[10, 0], [0, 10]])), round(cramers_v(np.array([[30, 20], [20, 30]])), 3)
    (1.0, 0.174)
    """
    return float(_compute_v(np.asarray(table, dtype=np.float64)[np.newaxis])[0])


def measure_association(
    first: Sequence[str], second: Sequence[str], clusters: Sequence[str], *, seed: int
) -> Association:
    """Measure the association of two classifications of questions.

    Args:
        first: the class of each question.
        second: the class of each question in the second classification.
        clusters: the cluster of each question, such as the patient.
        seed: the seed of the bootstrap.

    Returns:
        Cramér's V with a 95 % percentile interval: 500 resamples of clusters. V cannot be negative, so an
        interval from 0 does not prove that there is no association.
    """
    n = len(first)
    first_codes, second_codes = _encode(first), _encode(second)
    shape = (int(first_codes.max(initial=-1)) + 1, int(second_codes.max(initial=-1)) + 1)
    if min(shape) < 2:
        return Association(n=n, estimate=None, note="all questions are in one class")
    cells = first_codes * shape[1] + second_codes
    cluster_index, cluster_count = renumber_clusters(_encode(clusters))
    estimate = cramers_v(np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape))
    if math.isnan(estimate):
        return Association(n=n, estimate=None, note="too few questions")
    if cluster_count < 2:
        return Association(n=n, estimate=estimate, note="no interval: one patient only")
    rng = np.random.default_rng(seed)
    shares = np.full(cluster_count, 1 / cluster_count)
    tables = np.empty((_RESAMPLES, shape[0] * shape[1]))
    for row in range(_RESAMPLES):
        weights = rng.multinomial(cluster_count, shares)
        tables[row] = np.bincount(cells, weights[cluster_index], minlength=tables.shape[1])
    values = _compute_v(tables.reshape(_RESAMPLES, *shape))
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return Association(n=n, estimate=estimate, low=float(low), high=float(high))


def _compute_v(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute V of each table, shape (tables, rows, columns); classes without a count are left out."""
    n = tables.sum(axis=(1, 2))
    row_sums, column_sums = tables.sum(axis=2), tables.sum(axis=1)
    rows, columns = (row_sums > 0).sum(axis=1), (column_sums > 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = row_sums[:, :, np.newaxis] * column_sums[:, np.newaxis, :] / n[:, np.newaxis, np.newaxis]
        phi_squared = np.nansum((tables - expected) ** 2 / expected, axis=(1, 2)) / n
        corrected = np.maximum(0.0, phi_squared - (rows - 1) * (columns - 1) / (n - 1))
        corrected_rows, corrected_columns = (size - (size - 1) ** 2 / (n - 1) for size in (rows, columns))
        denominator = np.minimum(corrected_rows, corrected_columns) - 1
        values: NDArray[np.float64] = np.minimum(1.0, np.sqrt(corrected / denominator))
    values[(rows < 2) | (columns < 2) | (n < 2) | ~(denominator > 0)] = np.nan
    return values


def _encode(values: Sequence[str]) -> NDArray[np.int64]:
    return np.unique(np.asarray(values, dtype=np.str_), return_inverse=True)[1].astype(np.int64)
