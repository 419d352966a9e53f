"""Contingency tables and coefficients of agreement of many pairs of raters at once.

Conventions. A table has shape (k, k); rows are the first rater's categories, columns the second rater's.
Arrays of tables can have any number of leading axes (strata, pairs, resamples). A pair uses the questions
that both raters answered. Weights have shape (k, k), 1 on the diagonal.

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
        expected_by_row, expected_by_column = column_shares @ weights.T, row_shares @ weights
        observed = np.sum(share * weights, axis=(-2, -1))
        chance = np.sum(row_shares * expected_by_row, axis=-1)
        one_minus_chance = 1.0 - chance
        one_category = one_minus_chance < 1e-12
        kappa = np.where(one_category, np.nan, (observed - chance) / one_minus_chance)
        kappa_3d = kappa[..., None, None]
        unscaled_influence = weights - (expected_by_row[..., :, None] + expected_by_column[..., None, :]) * (
            1 - kappa_3d
        )
        unscaled_influence = unscaled_influence - (kappa_3d - chance[..., None, None] * (1 - kappa_3d))
        se = np.sqrt(np.sum(share * unscaled_influence**2, axis=(-2, -1)) / n) / one_minus_chance
    first_constant = (row_shares > 0).sum(axis=-1) == 1
    second_constant = (column_shares > 0).sum(axis=-1) == 1
    one_constant = first_constant ^ second_constant
    kappa = np.where(one_constant, 0.0, np.where(first_constant & second_constant, np.nan, kappa))
    return kappa, np.where(one_constant | np.isnan(kappa), np.nan, np.where(se < 1e-12, 0.0, se))


def kappa_influence(table: NDArray[np.int64] | Matrix, weights: Matrix) -> tuple[float, Matrix]:
    """Compute kappa of one table, and the influence function of its cells.

    Args:
        table: counts, shape (k, k), not empty and not all in one category.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.

    Returns:
        Kappa, and the influence of each cell, shape (k, k): n times the change of kappa when one question is
        added to the cell. The mean influence over the questions is 0. The square root of the sum of its
        squares over the questions, divided by n, is the standard error.
    """
    share = table / table.sum()
    row_shares, column_shares = share.sum(axis=1), share.sum(axis=0)
    chance = float(row_shares @ weights @ column_shares)
    kappa = (float(np.sum(share * weights)) - chance) / (1 - chance)
    unscaled_influence = weights - np.add.outer(weights @ column_shares, row_shares @ weights) * (1 - kappa)
    return kappa, (unscaled_influence - (kappa - chance * (1 - kappa))) / (1 - chance)


def ac1_influence(table: NDArray[np.int64], weights: Matrix) -> tuple[float, Matrix]:
    """Compute Gwet's AC1 (AC2 with weights) of one table, and the influence function of its cells.

    Args:
        table: counts over the whole scale, shape (k, k), not empty.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.

    Returns:
        AC1 (with one category, the observed agreement), and the influence of each cell as in
        :func:`kappa_influence`, shape (k, k).
    """
    k = len(weights)
    share = table / table.sum()
    overall = (share.sum(axis=1) + share.sum(axis=0)) / 2
    scale = float(weights.sum()) / (k * (k - 1)) if k > 1 else 0.0
    disagreement = float(np.sum(overall * (1 - overall)))
    chance = scale * disagreement
    ac1 = (float(np.sum(share * weights)) - chance) / (1 - chance)
    # the derivative of chance: each of a question's two answers contributes half
    chance_gradient = scale * (np.add.outer(1 - overall, 1 - overall) / 2)
    influence = (weights - chance) / (1 - chance) - ac1
    return ac1, influence - 2 * (1 - ac1) * (chance_gradient - chance) / (1 - chance)
