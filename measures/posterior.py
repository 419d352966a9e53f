"""Draws the answers of pairs of raters from their posterior, with the same random weights for all pairs.

Each question, or all questions of an exam or patient together, has a random weight with an exponential
distribution (Rubin's Bayesian bootstrap). If each question has its own weight, the shares of the cells of a
pair's table have the Dirichlet distribution that is its posterior. All pairs share one matrix of weights.

The prior has the weight of two questions: one is spread over the agreeing cells and one over the others. For
two categories this is Jeffreys' prior. With more than ``MAX_DENSE_CATEGORIES`` categories, the prior is drawn
by stick breaking: a Dirichlet distribution with equal weights over m cells is a Dirichlet process over them
with the same total weight. The last of the ``STICKS`` parts receives the remainder, which is a few
ten-thousandths of the total.

Sources: Rubin DB, Ann Stat 1981;9:130-134; Gelman A et al., Bayesian Data Analysis, 3rd ed., 2013, ch. 3;
Sethuraman J, Stat Sin 1994;4:639-650.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Maximum number of categories for which all cells of the prior are drawn individually.
MAX_DENSE_CATEGORIES = 10
#: Number of parts into which a share of the prior is divided.
STICKS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorDraws:
    """Draws of the prior's questions.

    Weighted agreement, shape (draws,), and both raters' answers by category, shape (k, draws).
    """

    observed: Floats
    first: Floats
    second: Floats


@lru_cache(maxsize=2)
def draw_weights(clusters: int, draws: int, seed: int) -> Floats:
    """Draw the random weights of exams or patients, shape (clusters, draws); their mean is 1."""
    weights = np.random.default_rng(seed).standard_exponential((clusters, draws))
    weights.setflags(write=False)
    return weights


def draw_prior(weights: Floats, *, draws: int, seed: int, with_disagreement: bool = True) -> PriorDraws:
    """Draw the two questions of the prior of a table.

    Args:
        weights: the agreement weights, shape (k, k), k of 2 or more, 1 on the diagonal.
        draws: the number of draws.
        seed: the seed of the draws.
        with_disagreement: False to omit the disagreeing question; the random numbers stay equal.
    """
    weight_bytes = np.asarray(weights, dtype=np.float64).tobytes()
    return _draw_prior(weight_bytes, len(weights), draws, seed, with_disagreement)


@lru_cache(maxsize=16)  # the pairs of a report have few different numbers of categories
def _draw_prior(weight_bytes: bytes, k: int, draws: int, seed: int, with_disagreement: bool) -> PriorDraws:
    weights = np.frombuffer(weight_bytes).reshape(k, k)
    random = np.random.default_rng([seed, k])
    if k > MAX_DENSE_CATEGORIES:
        return _draw_sparse_prior(weights, draws, random, with_disagreement=with_disagreement)
    diagonal = np.eye(k)
    shares = random.standard_gamma(
        (diagonal / k + (1 - diagonal) / (k * (k - 1)))[:, :, None], size=(k, k, draws)
    )
    if not with_disagreement:
        shares *= diagonal[:, :, None]
    return PriorDraws(
        observed=np.einsum("ijd,ij->d", shares, weights),
        first=shares.sum(axis=1),
        second=shares.sum(axis=0),
    )


def _draw_sparse_prior(
    weights: Floats, draws: int, random: np.random.Generator, *, with_disagreement: bool
) -> PriorDraws:
    k = len(weights)
    observed, first, second = np.zeros(draws), np.zeros((k, draws)), np.zeros((k, draws))
    columns = np.arange(draws)[:, None]
    agreeing, disagreeing = np.flatnonzero(np.eye(k)), np.flatnonzero(1 - np.eye(k))
    for cells in (agreeing, disagreeing) if with_disagreement else (agreeing,):
        chosen_cells = cells[random.integers(len(cells), size=(draws, STICKS))]
        sticks = random.standard_exponential((draws, 1)) * _break_sticks(random.random((draws, STICKS)))
        observed += np.sum(sticks * weights.ravel()[chosen_cells], axis=1)
        for margin, categories in ((first, chosen_cells // k), (second, chosen_cells % k)):
            cell_index = (categories * draws + columns).ravel()
            stick_sums = np.bincount(cell_index, weights=sticks.ravel(), minlength=k * draws)
            np.add(margin, stick_sums.reshape(k, draws), out=margin)
    return PriorDraws(observed=observed, first=first, second=second)


def _break_sticks(uniform: Floats) -> Floats:
    """Break sticks of length 1: each part is a Beta(1, 1) share of the remainder, the last is all of it."""
    fraction = uniform.copy()
    fraction[:, -1] = 1.0
    remainder = np.cumprod(np.hstack([np.ones((len(fraction), 1)), 1.0 - fraction[:, :-1]]), axis=1)
    return np.asarray(fraction * remainder)
