"""Draws the cell shares of a table of two raters from their posterior, a Dirichlet distribution.

The prior has the weight of two questions: one is spread over the agreeing cells and one over the others. With
two categories this is Jeffreys' prior. Kappa and AC1 only need the margins and the weighted agreement of a
draw, so the tables are not returned.

With many categories most cells are empty, and a gamma deviate for each of them would take most of the time of
a report. With more than ``MAX_DENSE_CATEGORIES`` categories, the total share of the empty cells is drawn and
divided by stick breaking: a Dirichlet distribution with equal weights over m cells is a Dirichlet process
over them with the same total weight. The last of the ``STICKS`` parts receives the remainder, which is a few
ten-thousandths of the total.

Sources: Gelman A et al., Bayesian Data Analysis, 3rd ed., 2013, ch. 3; Sethuraman J, Stat Sin 1994;4:639-650.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Maximum number of categories for which all cells are drawn individually.
MAX_DENSE_CATEGORIES = 10
#: Number of parts into which the share of the empty cells is divided.
STICKS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PosteriorDraws:
    """The draws: weighted agreement, shape (draws,), and both raters' category shares, shape (draws, k)."""

    observed: Floats
    first: Floats
    second: Floats


def draw_posterior(counts: Floats, weights: Floats, *, draws: int, seed: int) -> PosteriorDraws:
    """Draw the cell shares of a table of two raters from their posterior.

    Args:
        counts: counts, which need not be integers, shape (k, k), k of 2 or more; rows are the first rater.
        weights: the agreement weights, shape (k, k), 1 on the diagonal.
        draws: the number of draws.
        seed: the seed of the draws.

    Returns:
        The weighted agreement of each draw (0 to 1), and both raters' category shares (each row sums to 1).
    """
    return _draw(np.asarray(counts, dtype=np.float64).tobytes(), weights.tobytes(), len(counts), draws, seed)


@lru_cache(maxsize=4)  # kappa and AC1 of two raters share the draws of the four answer formats
def _draw(count_bytes: bytes, weight_bytes: bytes, k: int, draws: int, seed: int) -> PosteriorDraws:
    counts = np.frombuffer(count_bytes).reshape(k, k)
    weights = np.frombuffer(weight_bytes).reshape(k, k)
    random = np.random.default_rng(seed)
    diagonal = np.eye(k)
    prior = diagonal / k + (1 - diagonal) / (k * (k - 1))
    if k > MAX_DENSE_CATEGORIES:
        return _draw_sparse(counts, prior, weights, draws, random)
    shares = random.standard_gamma(counts + prior, size=(draws, k, k))
    shares /= shares.sum(axis=(1, 2), keepdims=True)
    return PosteriorDraws(
        observed=np.einsum("dij,ij->d", shares, weights),
        first=shares.sum(axis=2),
        second=shares.sum(axis=1),
    )


def _draw_sparse(
    counts: Floats, prior: Floats, weights: Floats, draws: int, random: np.random.Generator
) -> PosteriorDraws:
    k = len(counts)
    filled = np.flatnonzero(counts.ravel() > 0)
    mass = random.standard_gamma((counts + prior).ravel()[filled], size=(draws, len(filled)))
    total = mass.sum(axis=1)
    observed = mass @ weights.ravel()[filled]
    first, second = _sum_by_category(mass, filled // k, k), _sum_by_category(mass, filled % k, k)
    empty = counts <= 0
    for group in (empty & np.eye(k, dtype=bool), empty & ~np.eye(k, dtype=bool)):
        cells = np.flatnonzero(group.ravel())
        if not cells.size:
            continue
        weight = float(prior.ravel()[cells].sum())
        share = random.standard_gamma(weight, size=draws)
        chosen_cells = cells[random.integers(len(cells), size=(draws, STICKS))]
        sticks = share[:, None] * _break_sticks(random.random((draws, STICKS)), weight)
        total += share
        observed += np.sum(sticks * weights.ravel()[chosen_cells], axis=1)
        row_offsets = np.arange(draws)[:, None] * k
        for margin, categories in ((first, chosen_cells // k), (second, chosen_cells % k)):
            added_shares = np.bincount(
                (row_offsets + categories).ravel(), weights=sticks.ravel(), minlength=draws * k
            )
            np.add(margin, added_shares.reshape(draws, k), out=margin)
    return PosteriorDraws(
        observed=observed / total, first=first / total[:, None], second=second / total[:, None]
    )


def _sum_by_category(mass: Floats, categories: NDArray[np.int64], k: int) -> Floats:
    order = np.argsort(categories, kind="stable")
    distinct, starts = np.unique(categories[order], return_index=True)
    sums = np.zeros((len(mass), k))
    sums[:, distinct] = np.add.reduceat(mass[:, order], starts, axis=1)
    return sums


def _break_sticks(uniform: Floats, weight: float) -> Floats:
    """Break sticks of length 1: each part is Beta(1, weight) of the remainder, the last part is the rest."""
    part = -np.expm1(np.log1p(-uniform) / weight)
    part[:, -1] = 1.0
    remainder = np.cumprod(np.hstack([np.ones((len(part), 1)), 1.0 - part[:, :-1]]), axis=1)
    return np.asarray(part * remainder)
