"""Draws of kappa and AC1 of many pairs of raters from the posterior (:mod:`measures.posterior`).

Values that several tables share are computed once: the shares of a rater's categories, for all pairs with the
same questions in common, and the draws of a pair, for both coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.pair_sums import PairSums
from measures.posterior import draw_prior

Floats = NDArray[np.float64]
#: If more shares of categories are cached, the cache is cleared.
_MAX_KEPT = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDraws:
    """Draws of a table: weighted agreement (draws,), and both raters' category shares (k, draws)."""

    observed: Floats
    first: Floats
    second: Floats
    weights: Floats


class PairDraws:
    """Draws the tables of pairs of raters from random weights of the questions and the prior.

    Args:
        sums: the sums of the random weights.
        draws: the number of draws.
        seed: the seed of the prior.
    """

    def __init__(self, sums: PairSums, *, draws: int, seed: int) -> None:
        self._sums = sums
        self._draws = draws
        self._seed = seed
        self._kept: dict[tuple[object, ...], tuple[Floats, ...]] = {}
        self._n_kept = 0
        self._last: tuple[tuple[object, ...], TableDraws] | None = None

    def sum_agreements(self, agreements: Floats) -> Floats:
        """Sum the agreement of each pair over the questions; shapes (pairs, questions) and (pairs, draws)."""
        return self._sums.sum_agreements(agreements)

    def draw_table(
        self,
        pair: tuple[int, int],
        categories: NDArray[np.int64],
        weights: Floats,
        agreement: Floats,
        *,
        effect: float,
        with_disagreement: bool,
    ) -> TableDraws:
        """Draw the table of a pair.

        Args:
            pair: the two raters.
            categories: the categories of the table, shape (k,), k of 2 or more.
            weights: the agreement weights, shape (k, k).
            agreement: the summed agreement of the pair, shape (draws,).
            effect: the design effect, by which the prior is multiplied.
            with_disagreement: whether the prior has a disagreeing question.
        """
        a, b = pair
        key = (pair, categories.tobytes(), weights.tobytes(), effect, with_disagreement)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        common = self._sums.find_common(a, b)
        prior = draw_prior(weights, draws=self._draws, seed=self._seed, with_disagreement=with_disagreement)
        first, total = self._get_shares(
            ("first", a, common, *key[1:]),
            lambda: _divide_by_total(self._sums.sum_answers(a, common, categories) + effect * prior.first),
        )
        (second,) = self._get_shares(
            ("second", b, common, *key[1:]),
            lambda: (self._sums.sum_answers(b, common, categories) + effect * prior.second,),
        )
        drawn = TableDraws(
            observed=(agreement + effect * prior.observed) / total,
            first=first,
            second=second / total,
            weights=weights,
        )
        self._last = (key, drawn)
        return drawn

    def _get_shares(
        self, key: tuple[str, int, bytes, *tuple[object, ...]], compute: Callable[[], tuple[Floats, ...]]
    ) -> tuple[Floats, ...]:
        """Return shares that several pairs use; they are cached if the pair has all answers of the rater.

        Otherwise, other pairs are unlikely to have the same questions in common, and caching takes longer.
        """
        _, rater, common, *_ = key
        if not self._sums.has_all_answers(rater, common):
            return compute()
        if key not in self._kept:
            if self._n_kept > _MAX_KEPT:
                self._kept.clear()
                self._n_kept = 0
            values = compute()
            self._kept[key] = values
            self._n_kept += values[0].size
        return self._kept[key]


def _divide_by_total(sums: Floats) -> tuple[Floats, Floats]:
    total = sums.sum(axis=0)
    return sums / total, total


def kappas_of_draws(drawn: TableDraws) -> Floats:
    """Compute kappa of each draw, shape (draws,)."""
    is_nominal = np.count_nonzero(drawn.weights) == len(drawn.weights)
    expected = drawn.first if is_nominal else drawn.weights.T @ drawn.first
    chance = np.einsum("kd,kd->d", expected, drawn.second)
    kappas: Floats = (drawn.observed - chance) / np.maximum(1.0 - chance, 1e-12)
    return kappas


def ac1_of_draws(drawn: TableDraws) -> Floats:
    """Compute AC1 (AC2 with weights) of each draw, shape (draws,)."""
    k = len(drawn.weights)
    overall = (drawn.first + drawn.second) / 2
    chance = float(drawn.weights.sum()) / (k * (k - 1)) * (1 - np.einsum("kd,kd->d", overall, overall))
    coefficients: Floats = (drawn.observed - chance) / (1.0 - chance)
    return coefficients
