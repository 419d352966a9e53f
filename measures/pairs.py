"""Contingency tables and coefficients of agreement of many pairs of raters at once.

Conventions. A table has shape (k, k); rows are the first rater's categories, columns the second's. Functions
take any number of leading axes (strata, pairs, resamples) and return one number per table. A pair uses the
questions that both raters answered. Weights have shape (k, k), 1 on the diagonal.

Edge cases. Kappa is NaN for an empty table or a single category, and 0 if one rater is constant. The standard
errors divide by n (as Gwet's for two raters), not by n - 1.

Sources: Cohen J, Psychol Bull 1968;70:213-220; Fleiss JL, Cohen J, Everitt BS, Psychol Bull 1969;72:323-327;
Gwet KL, Br J Math Stat Psychol 2008;61:29-48.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def pair_tables(
    answers: NDArray[np.int64],
    pairs: Sequence[tuple[int, int]],
    *,
    k: int,
    stratum: NDArray[np.int64] | None = None,
    strata: int = 1,
) -> NDArray[np.int64]:
    """Contingency tables of many pairs of raters at once.

    Args:
        answers: category numbers 0 to k - 1, -1 where missing, shape (questions, raters).
        pairs: the two raters of each table, by column.
        k: number of categories.
        stratum: number of each question's stratum, -1 for none, shape (questions,); None for one stratum.
        strata: number of strata.

    Returns:
        Counts, shape (strata, pairs, k, k); rows are the first rater's categories.

    >>> pair_tables(np.array([[0, 0], [0, 1], [1, -1]]), [(0, 1)], k=2)[0, 0]
    array([[1, 1],
           [0, 0]])
    """
    size = k * k
    # A missing answer is category k; its row and column are cut off afterwards, which is faster than a mask.
    padded_size = (k + 1) * (k + 1)
    columns = np.where(answers < 0, k, answers).astype(np.int32).T
    offset = (
        None if stratum is None else (np.where(stratum < 0, strata, stratum) * padded_size).astype(np.int32)
    )
    rows = [np.ascontiguousarray(column * (k + 1)) for column in columns]
    if offset is not None:
        rows = [row + offset for row in rows]
    tables = np.empty((len(pairs), strata, size), dtype=np.int64)
    for index, (first, second) in enumerate(pairs):
        counts = np.bincount(rows[first] + columns[second], minlength=(strata + 1) * padded_size)
        padded_tables = counts[: strata * padded_size].reshape(strata, k + 1, k + 1)
        tables[index] = padded_tables[:, :k, :k].reshape(strata, size)
    return np.swapaxes(tables, 0, 1).reshape(strata, len(pairs), k, k)


def kappas(tables: NDArray[np.int64] | Matrix, weights: Matrix) -> tuple[Matrix, Matrix]:
    """Cohen's kappa and its large-sample standard error of many tables at once.

    Args:
        tables: counts, shape (..., k, k); rows are the first rater's categories.
        weights: of agreement, shape (k, k), 1 on the diagonal.

    Returns:
        Kappa and standard error, each of shape (...); NaN where not defined.

    >>> kappa, error = kappas(np.array([[20, 5], [10, 15]]), np.eye(2))
    >>> (round(float(kappa), 3), round(float(error), 3))
    (0.4, 0.127)
    """
    counts = np.asarray(tables, dtype=np.float64)
    n = counts.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / n[..., None, None]
        rows, columns = share.sum(axis=-1), share.sum(axis=-2)
        row_agreement, column_agreement = columns @ weights.T, rows @ weights
        observed = np.sum(share * weights, axis=(-2, -1))
        chance = np.sum(rows * row_agreement, axis=-1)
        one_minus_chance = 1.0 - chance
        one_category = one_minus_chance < 1e-12
        kappa = np.where(one_category, np.nan, (observed - chance) / one_minus_chance)
        kappa_of_cell = kappa[..., None, None]
        influence = weights - (row_agreement[..., :, None] + column_agreement[..., None, :]) * (
            1 - kappa_of_cell
        )
        influence = influence - (kappa_of_cell - chance[..., None, None] * (1 - kappa_of_cell))
        se = np.sqrt(np.sum(share * influence**2, axis=(-2, -1)) / n) / one_minus_chance
    first_constant = (rows > 0).sum(axis=-1) == 1
    second_constant = (columns > 0).sum(axis=-1) == 1
    one_side = first_constant ^ second_constant
    kappa = np.where(one_side, 0.0, np.where(first_constant & second_constant, np.nan, kappa))
    return kappa, np.where(one_side | np.isnan(kappa), np.nan, np.where(se < 1e-12, 0.0, se))


def kappa_influence(table: NDArray[np.int64] | Matrix, weights: Matrix) -> tuple[float, Matrix]:
    """Kappa of one table, and the influence of each cell on it.

    Args:
        table: counts, shape (k, k), not empty and not all in one category.
        weights: of agreement, shape (k, k), 1 on the diagonal.

    Returns:
        Kappa; and n times the change of kappa by one more question in a cell, mean 0 over the questions,
        shape (k, k). The root of the sum of squares over the questions, divided by n, is the standard error.
    """
    share = table / table.sum()
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    chance = float(rows @ weights @ columns)
    kappa = (float(np.sum(share * weights)) - chance) / (1 - chance)
    influence = weights - np.add.outer(weights @ columns, rows @ weights) * (1 - kappa)
    return kappa, (influence - (kappa - chance * (1 - kappa))) / (1 - chance)


def ac1_influence(table: NDArray[np.int64], weights: Matrix) -> tuple[float, Matrix]:
    """Gwet's AC1 (AC2 with weights) of one table, and the influence of each cell on it.

    Args:
        table: counts over the whole scale, shape (k, k), not empty.
        weights: of agreement, shape (k, k), 1 on the diagonal.

    Returns:
        AC1 (with one category: the observed agreement); and each cell's influence, mean 0, shape (k, k).
    """
    k = len(weights)
    share = table / table.sum()
    overall = (share.sum(axis=1) + share.sum(axis=0)) / 2
    scale = float(weights.sum()) / (k * (k - 1)) if k > 1 else 0.0
    disagreement = float(np.sum(overall * (1 - overall)))
    chance = scale * disagreement
    ac1 = (float(np.sum(share * weights)) - chance) / (1 - chance)
    expected_cell = scale * (
        np.add.outer(1 - overall, 1 - overall) / 2
    )  # a question's two answers, half each
    influence = (weights - chance) / (1 - chance) - ac1
    return ac1, influence - 2 * (1 - ac1) * (expected_cell - chance) / (1 - chance)
