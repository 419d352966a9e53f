"""Ranks systems that answered the same questions, with a paired bootstrap clustered by patient.

Each resample draws patients with replacement. All systems use the same resamples, so the difference of two
systems accounts for their correlation. A difference is tested with its bootstrap standard error and the
normal distribution; Holm's method adjusts the p values of all pairs.

Edge cases. Two systems with equal answers have the difference 0, the standard error 0 and the p value 1. With
fewer than two clusters there is no interval, and no difference is significant.

Sources: Efron B, Tibshirani RJ, An Introduction to the Bootstrap, 1993, ch. 6 and 8; Field CA, Welsh AH,
J R Stat Soc B 2007;69:369-390 (bootstrap of clusters); Goldstein H, Spiegelhalter DJ, J R Stat Soc A
1996;159:385-443 (intervals of ranks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.multiplicity import adjust_p_values

#: Differences with an adjusted p value below this are significant.
ALPHA = 0.05
RESAMPLES = 2_000
#: The confidence level of the intervals.
CONFIDENCE = 0.95
_MAX_COUNTS = 4_000_000  # numbers of draws (resamples x clusters) that are in memory at once


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """A system with its rank, 1 for the best; systems with equal scores share a rank.

    ``rank_low`` and ``rank_high`` are the limits of the interval of the rank. ``group`` is 1 for the systems
    that cannot be distinguished from the best, 2 for the next, and so on: a group begins with the first
    system that is significantly worse than the first system of the group before. ``score`` is a fraction.
    """

    index: int
    score: float
    rank: int
    rank_low: int
    rank_high: int
    group: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDifference:
    """The score of system ``a`` minus that of system ``b``, with its percentile interval."""

    a: int
    b: int
    difference: float
    low: float | None
    high: float | None
    p: float | None
    p_adjusted: float | None

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted < ALPHA


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The systems by rank, and all pairs of them, the better system first."""

    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairDifference, ...]


def rank_systems(
    correct: NDArray[np.bool_],
    *,
    clusters: Sequence[int] | NDArray[np.int64],
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Ranking:
    """Rank systems by their accuracy.

    Args:
        correct: whether each system answered each question correctly, shape (questions, systems).
        clusters: the patient of each question, shape (questions,).
        seed: the seed of the resamples. The same arguments give the same result. The order of the systems
            only decides which of two systems with equal scores is listed first.
        resamples: the number of resamples.
        confidence: the confidence level of the intervals.

    Raises:
        ValueError: there is no question, or ``clusters`` has another length.

    >>> ranking = rank_systems(
    ...     np.array([[1, 0], [1, 1], [1, 0], [0, 0]], dtype=bool), clusters=[0, 1, 2, 3], seed=1
    ... )
    >>> [(system.index, system.score, system.rank) for system in ranking.systems]
    [(0, 0.75, 1), (1, 0.25, 2)]
    """
    n, n_systems = correct.shape
    if n == 0 or len(clusters) != n:
        raise ValueError("each question needs a cluster, and there must be a question")
    if n_systems == 0:
        return Ranking(systems=(), pairs=())
    scores = correct.mean(axis=0)
    resampled = resample_scores(correct, clusters=clusters, seed=seed, resamples=resamples)
    order = np.argsort(-scores, kind="stable")
    tail = (1 - confidence) / 2
    pairs = _compare_pairs(scores, resampled, order, tail)
    groups = _group_systems(order, pairs)
    return Ranking(
        systems=tuple(_describe_system(int(index), scores, resampled, groups, tail) for index in order),
        pairs=pairs,
    )


def resample_scores(
    correct: NDArray[np.bool_],
    *,
    clusters: Sequence[int] | NDArray[np.int64],
    seed: int,
    resamples: int = 2000,
) -> NDArray[np.float64]:
    """Compute the accuracy of each system in each resample of clusters.

    Returns:
        Shape (resamples, systems). With fewer than two clusters all values are NaN.
    """
    cluster_index, n_clusters = renumber_clusters(clusters)
    if n_clusters < 2:
        return np.full((resamples, correct.shape[1]), np.nan)
    sizes = np.bincount(cluster_index).astype(np.float64)
    sums = np.stack([np.bincount(cluster_index, weights=column) for column in correct.T], axis=1)
    random = np.random.default_rng(seed)
    scores = np.empty((resamples, correct.shape[1]))
    step = max(1, _MAX_COUNTS // n_clusters)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        counts = random.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=size).astype(
            np.float64
        )
        scores[start : start + size] = (counts @ sums) / (counts @ sizes)[:, None]
    return scores


def _compare_pairs(
    scores: NDArray[np.float64], resampled: NDArray[np.float64], order: NDArray[np.int64], tail: float
) -> tuple[PairDifference, ...]:
    compared: list[tuple[int, int, float, float | None, float | None, float | None]] = []
    for position, a in enumerate(order):
        for b in order[position + 1 :]:
            differences = resampled[:, a] - resampled[:, b]
            difference = float(scores[a] - scores[b])
            if np.isnan(differences).any():
                compared.append((int(a), int(b), difference, None, None, None))
                continue
            low, high = np.quantile(differences, [tail, 1 - tail])
            standard_error = float(differences.std(ddof=1))
            p = (
                1.0
                if standard_error < 1e-12
                else float(2 * scipy.special.ndtr(-abs(difference) / standard_error))
            )
            compared.append((int(a), int(b), difference, float(low), float(high), p))
    adjusted = adjust_p_values([comparison[5] for comparison in compared])
    return tuple(
        PairDifference(a=a, b=b, difference=difference, low=low, high=high, p=p, p_adjusted=p_adjusted)
        for (a, b, difference, low, high, p), p_adjusted in zip(compared, adjusted, strict=True)
    )


def _group_systems(order: NDArray[np.int64], pairs: Sequence[PairDifference]) -> dict[int, int]:
    is_significant = {(pair.a, pair.b): pair.is_significant for pair in pairs}
    groups: dict[int, int] = {}
    first, group = int(order[0]), 1
    for system in order:
        index = int(system)
        if is_significant.get((first, index), False):
            first, group = index, group + 1
        groups[index] = group
    return groups


def _describe_system(
    index: int,
    scores: NDArray[np.float64],
    resampled: NDArray[np.float64],
    groups: dict[int, int],
    tail: float,
) -> RankedSystem:
    rank = 1 + int((scores > scores[index]).sum())
    own_scores = resampled[:, index]
    if np.isnan(own_scores).any():
        rank_low, rank_high = 1, len(scores)
    else:
        n_better = (resampled > own_scores[:, None] + 1e-12).sum(axis=1)
        n_not_worse = (resampled >= own_scores[:, None] - 1e-12).sum(axis=1)
        # Ties count for both limits: a system that ties with another may have either rank.
        rank_low = 1 + int(np.quantile(n_better, tail, method="inverted_cdf"))
        rank_high = int(np.quantile(n_not_worse, 1 - tail, method="inverted_cdf"))
    return RankedSystem(
        index=index,
        score=float(scores[index]),
        rank=rank,
        rank_low=min(rank, rank_low),
        rank_high=max(rank, rank_high),
        group=groups[index],
    )
