"""The calibration of a threshold: pairs over the range of similarity, judged by a person.

The rules have found these pairs equal in meaning. The person's judgements show how often the rules are wrong
above a threshold. Pairs are drawn evenly from bins of similarity and weighted by the size of their bin.
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


def explain_missing_rate(estimate: ThresholdEstimate) -> str:
    """Return why a threshold has no estimate of wrong merges."""
    if not estimate.pairs:
        return "no pairs"
    return "judge each range first" if estimate.judged else "not judged yet"


def draw_pairs(pairs: Sequence[Pair], *, seed: int, per_bin: int = PAIRS_PER_BIN) -> list[CalibrationPair]:
    """Draw ``per_bin`` pairs from each bin of similarity without replacement; all pairs of a smaller bin.

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
            first=bin_pairs[index].first,
            second=bin_pairs[index].second,
            similarity=bin_pairs[index].similarity,
            weight=len(bin_pairs) / min(per_bin, len(bin_pairs)),
        )
        for _, bin_pairs in sorted(bins.items())
        for index in sorted(rng.choice(len(bin_pairs), size=min(per_bin, len(bin_pairs)), replace=False))
    ]
    return [drawn[index] for index in rng.permutation(len(drawn))]


def estimate_wrong_merges(pairs: Sequence[CalibrationPair]) -> list[ThresholdEstimate]:
    """Estimate the share of wrong merges from each threshold on, from all pairs that were drawn."""
    return [_estimate(pairs, lowest_bin) for lowest_bin in range(len(BIN_EDGES))]


def find_bin(similarity: float) -> int:
    """Return the index in :data:`BIN_EDGES` of the bin of a similarity, which is at least the first edge."""
    return int(np.searchsorted(BIN_EDGES, similarity, side="right")) - 1


def _estimate(pairs: Sequence[CalibrationPair], lowest_bin: int) -> ThresholdEstimate:
    strata = []
    for index in range(lowest_bin, len(BIN_EDGES)):
        bin_pairs = [pair for pair in pairs if find_bin(pair.similarity) == index]
        judged = [pair for pair in bin_pairs if pair.is_same is not None]
        if bin_pairs:
            strata.append(
                StratumCount(
                    name=f"{BIN_EDGES[index]:g}",
                    size=round(sum(pair.weight for pair in bin_pairs)),
                    reviewed=len(judged),
                    hits=sum(pair.is_same is False for pair in judged),
                )
            )
    rate = stratified_rate(strata) if any(stratum.reviewed for stratum in strata) else None
    return ThresholdEstimate(
        threshold=BIN_EDGES[lowest_bin],
        pairs=sum(stratum.size for stratum in strata),
        judged=sum(stratum.reviewed for stratum in strata),
        rate=rate.estimate if rate else None,
        low=rate.low if rate else None,
        high=rate.high if rate else None,
    )
