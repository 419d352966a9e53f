"""Drift: how one reviewer's verdicts change over time, in blocks of consecutive verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.ratings import RATING_NAMES, VALUES
from domain.verdicts import Decision
from measures.means import Mean, mean_by_cluster
from measures.proportions import Proportion, wilson_by_cluster
from records.columns import DECISIONS, LatestVerdicts

BLOCK = 25
#: The most blocks per person.
_MOST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftBlock:
    """Verdicts ``first`` to ``last`` of a person, counted from 1; the last block may be shorter.

    ``ratings`` are means by the rating's name (1 to 5), ``seconds`` the time of looking until the first
    verdict.
    """

    first: int
    last: int
    accepted: Proportion
    ratings: dict[str, Mean]
    seconds: Mean


def block_size(most: int) -> int:
    """The number of verdicts per block: 25, or the multiple of 25 that gives at most 40 blocks.

    Args:
        most: verdicts of the reviewer of the batch with the most.
    """
    return BLOCK * max(1, math.ceil(most / (BLOCK * _MOST)))


def drift_of(verdicts: LatestVerdicts, *, block: int = BLOCK) -> tuple[DriftBlock, ...]:
    """Compute the blocks of one person.

    Args:
        verdicts: of the person, with ratings; ordered here by the time of the first revision.
        block: verdicts per block.
    """
    ordered = np.lexsort((verdicts.questions, verdicts.first_given_at))
    return tuple(
        _block(start + 1, verdicts, ordered[start : start + block]) for start in range(0, len(ordered), block)
    )


def _block(first: int, verdicts: LatestVerdicts, there: NDArray[np.int64]) -> DriftBlock:
    exams, ratings = verdicts.exams[there], {}
    accepted = verdicts.decisions[there] == DECISIONS.index(Decision.ACCEPT)
    for name, column in zip(RATING_NAMES, verdicts.ratings.T, strict=True):
        values = column[there]
        given = values > 0
        ratings[name] = mean_by_cluster(values[given], exams[given], least=VALUES[0], most=VALUES[-1])
    return DriftBlock(
        first=first,
        last=first + len(there) - 1,
        accepted=wilson_by_cluster(accepted, exams),
        ratings=ratings,
        seconds=mean_by_cluster(verdicts.first_seconds[there], exams, least=0),
    )
