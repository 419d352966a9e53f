"""Contingency tables and coefficients of agreement of many pairs of raters at once.

Conventions. A table has shape (k, k); rows are the first rater's categories, columns the second rater's.
Arrays of tables can have any number of leading axes (strata, pairs, resamples). A pair uses the questions
that both raters answered. Weights have shape (k, k), 1 on the diagonal.

Edge cases. Kappa is NaN for an empty table or a single category, and 0 if exactly one rater is
constant. The standard errors divide by n, as in Gwet's formula for two raters, not by n - 1.

Sources: Cohen J, Psychol Bull 1968;70:213-220; Fleiss JL, Cohen J, Everitt BS, Psychol Bull 1969;72:323-327;
Gwet KL, Br J Math Stat Psychol 2008;61:29-48.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def build_pair_tables(
    answers: NDArray[np.int64],
    pairs: Sequence[tuple[int, int]],
    *,
    k: int,
    stratum: NDArray[np.int64] | None = None,
    strata: int = 1,
) -> NDArray[np.int64]:
    """Build the contingency tables of many pairs of raters at once.

    Args:
        answers: category indices 0 to k - 1, -1 where missing, shape (questions, raters).
        pairs: the columns of the two raters of each table.
        k: the number of categories.
        stratum: the stratum index of each question, -1 for none, shape (questions,); None for one stratum.
        strata: the number of strata.

    Returns:
        Counts, shape (strata, pairs, k, k); rows are the first rater's categories.

    >>> build_pair_tables(np.array([[0, 0], [0, 1], [1, -1]]), [(0, 1)], k=2)[0, 0]
    array([[1, 1],
           [0, 0]])
    """
    size = k * k
    # A missing answer becomes category k, whose row and column are cut off later. This is faster than a mask.
    padded_size = (k + 1) * (k + 1)
    codes = np.where(answers < 0, k, answers).astype(np.int32).T
    offset = (
        None if stratum is None else (np.where(stratum < 0, strata, stratum) * padded_size).astype(np.int32)
    )
    row_codes = [np.ascontiguousarray(rater_codes * (k + 1)) for rater_codes in codes]
    if offset is not None:
        row_codes = [rater_codes + offset for rater_codes in row_codes]
    tables = np.empty((len(pairs), strata, size), dtype=np.int64)
    for index, (first, second) in enumerate(pairs):
        counts = np.bincount(row_codes[first] + codes[second], minlength=(strata + 1) * padded_size)
        padded_tables = counts[: strata * padded_size].reshape(strata, k + 1, k + 1)
        tables[index] = padded_tables[:, :k, :k].reshape(strata, size)
    return np.swapaxes(tables, 0, 1).reshape(strata, len(pairs), k, k)


def compute_kappas(tables: NDArray[np.int64] | Matrix, weights: Matrix) -> tuple[Matrix, Matrix]:
    """Compute Cohen's kappa and its large-sample standard error of many tables at once.

    Args:
        tables: counts, shape (..., k, k); rows are the first rater's categories.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.

    Returns:
        Kappa and standard error, each of shape (...); NaN where not defined.

    >>> kappa, error = compute_kappas(np.array([[20, 5], [10, 15]]), np.eye(2))
    >>> (round(float(kappa), 3), round(float(error), 3))
    (0.4, 0.127)
    """
    counts = np.asarray(tables, dtype=np.float64)
    n = counts.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / n[..., None, None]
        row_shares, column_shares = share.sum(axis=-1), share.sum(axis=-2)
        mean_weight_of_row, mean_weight_of_column = column_shares @ weights.T, row_shares @ weights
        observed = np.sum(share * weights, axis=(-2, -1))
        chance = np.sum(row_shares * mean_weight_of_row, axis=-1)
        one_minus_chance = 1.0 - chance
        is_one_category = one_minus_chance < 1e-12
        kappa = np.where(is_one_category, np.nan, (observed - chance) / one_minus_chance)
        kappa_of_cells = kappa[..., None, None]
        unscaled_influence = weights - (
            mean_weight_of_row[..., :, None] + mean_weight_of_column[..., None, :]
        ) * (1 - kappa_of_cells)
        unscaled_influence = unscaled_influence - (
            kappa_of_cells - chance[..., None, None] * (1 - kappa_of_cells)
        )
        se = np.sqrt(np.sum(share * unscaled_influence**2, axis=(-2, -1)) / n) / one_minus_chance
    is_first_constant = (row_shares > 0).sum(axis=-1) == 1
    is_second_constant = (column_shares > 0).sum(axis=-1) == 1
    is_one_constant = is_first_constant ^ is_second_constant
    kappa = np.where(is_one_constant, 0.0, np.where(is_first_constant & is_second_constant, np.nan, kappa))
    return kappa, np.where(is_one_constant | np.isnan(kappa), np.nan, np.where(se < 1e-12, 0.0, se))


def kappa_influence(
    tables: NDArray[np.int64] | Matrix, weights: Matrix
) -> tuple[Matrix | np.float64, Matrix]:
    """Compute kappa of tables, and the influence function of their cells.

    Args:
        tables: counts, shape (..., k, k); no table is empty or has all questions in one category.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.

    Returns:
        Kappa, shape (...), and the influence of each cell, shape (..., k, k): n times the change of kappa
        when one question is added to the cell. The mean influence over the questions is 0. The standard
        error is sqrt(sum of the squared influences of the questions) / n.
    """
    share = tables / tables.sum(axis=(-2, -1), keepdims=True)
    row_shares, column_shares = share.sum(axis=-1), share.sum(axis=-2)
    mean_weight_of_column = (row_shares[..., None, :] @ weights)[..., 0, :]
    mean_weight_of_row = (weights @ column_shares[..., :, None])[..., 0]
    chance = (mean_weight_of_column[..., None, :] @ column_shares[..., :, None])[..., 0, 0]
    kappa = (_sum_cells(share * weights) - chance) / (1 - chance)
    unscaled_influence = weights - (
        mean_weight_of_row[..., :, None] + mean_weight_of_column[..., None, :]
    ) * _add_axes(1 - kappa)
    return kappa, (unscaled_influence - _add_axes(kappa - chance * (1 - kappa))) / _add_axes(1 - chance)


def ac1_influence(tables: NDArray[np.int64], weights: Matrix) -> tuple[Matrix | np.float64, Matrix]:
    """Compute Gwet's AC1 (AC2 with weights) of tables, and the influence function of their cells.

    Args:
        tables: counts with all categories, also unused ones, shape (..., k, k); no table is empty.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.

    Returns:
        AC1 (with one category, the observed agreement), shape (...), and the influence of each cell as in
        :func:`kappa_influence`, shape (..., k, k).
    """
    k = len(weights)
    share = tables / tables.sum(axis=(-2, -1), keepdims=True)
    overall = (share.sum(axis=-1) + share.sum(axis=-2)) / 2
    weight_factor = float(weights.sum()) / (k * (k - 1)) if k > 1 else 0.0
    chance = weight_factor * np.sum(overall * (1 - overall), axis=-1)
    ac1 = (_sum_cells(share * weights) - chance) / (1 - chance)
    # the derivative of chance: each of a question's two answers contributes half
    complement = 1 - overall
    chance_gradient = weight_factor * ((complement[..., :, None] + complement[..., None, :]) / 2)
    influence = (weights - _add_axes(chance)) / _add_axes(1 - chance) - _add_axes(ac1)
    return ac1, influence - _add_axes(2 * (1 - ac1)) * (chance_gradient - _add_axes(chance)) / _add_axes(
        1 - chance
    )


def _sum_cells(tables: Matrix) -> Matrix:
    """Sum each table, shape (..., k, k)."""
    sums: Matrix = tables.reshape(*tables.shape[:-2], -1).sum(axis=-1)
    return sums


def _add_axes(values: Matrix) -> Matrix:
    """Add two axes, so that the value of each table is broadcast over its cells."""
    return np.asarray(values)[..., None, None]
