"""The calibration of a threshold: pairs over the range of similarity, judged by a person.

The rules have found these pairs equal in meaning, so the question is how often they are wrong above a
threshold. Pairs are drawn evenly from bins of similarity and weighted by the size of their bin.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domain.duplicates import CalibrationPair
from measures.strata import StratumCount, stratified_rate
from quality.duplicates.search import Pair

#: The lower edges of the bins. A threshold is one of them.
BIN_EDGES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
PAIRS_PER_BIN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdEstimate:
    """The share of wrong merges among the ``pairs`` of a dataset from a threshold on.

    ``rate`` is None if nothing was judged; ``low`` and ``high`` are its 95 % interval.
    """

    threshold: float
    pairs: int
    judged: int
    rate: float | None
    low: float | None
    high: float | None


def describe_missing_rate(estimate: ThresholdEstimate) -> str:
    """Return why a threshold has no estimate of wrong merges."""
    if not estimate.pairs:
        return "no pairs"
    return "judge each range first" if estimate.judged else "not judged yet"


def draw_pairs(pairs: Sequence[Pair], *, seed: int, per_bin: int = PAIRS_PER_BIN) -> list[CalibrationPair]:
    """Draw pairs from each bin of similarity without replacement; all of a bin that has fewer.

    Returns:
        The pairs in random order, so that the similarity cannot be guessed from the position.
    """
    rng = np.random.default_rng(seed)
    bins: defaultdict[int, list[Pair]] = defaultdict(list)
    for pair in sorted(pairs):
        if pair.similarity >= BIN_EDGES[0]:
            bins[find_bin(pair.similarity)].append(pair)
    drawn = [
        CalibrationPair(
            first=members[index].first,
            second=members[index].second,
            similarity=members[index].similarity,
            weight=len(members) / min(per_bin, len(members)),
        )
        for _, members in sorted(bins.items())
        for index in sorted(rng.choice(len(members), size=min(per_bin, len(members)), replace=False))
    ]
    return [drawn[index] for index in rng.permutation(len(drawn))]


def estimate_wrong_merges(pairs: Sequence[CalibrationPair]) -> list[ThresholdEstimate]:
    """Estimate the share of wrong merges from each threshold on, from all pairs that were drawn."""
    return [_estimate(pairs, lowest) for lowest in range(len(BIN_EDGES))]


def find_bin(similarity: float) -> int:
    """Return the index in :data:`BIN_EDGES` of the bin of a similarity, which is at least the first edge."""
    return int(np.searchsorted(BIN_EDGES, similarity, side="right")) - 1


def _estimate(pairs: Sequence[CalibrationPair], lowest: int) -> ThresholdEstimate:
    strata = []
    for index in range(lowest, len(BIN_EDGES)):
        members = [pair for pair in pairs if find_bin(pair.similarity) == index]
        judged = [pair for pair in members if pair.is_same is not None]
        if members:
            strata.append(
                StratumCount(
                    name=f"{BIN_EDGES[index]:g}",
                    size=round(sum(pair.weight for pair in members)),
                    reviewed=len(judged),
                    hits=sum(pair.is_same is False for pair in judged),
                )
            )
    rate = stratified_rate(strata) if any(stratum.reviewed for stratum in strata) else None
    return ThresholdEstimate(
        threshold=BIN_EDGES[lowest],
        pairs=sum(stratum.size for stratum in strata),
        judged=sum(stratum.reviewed for stratum in strata),
        rate=rate.estimate if rate else None,
        low=rate.low if rate else None,
        high=rate.high if rate else None,
    )
