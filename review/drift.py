"""Drift: the change of one reviewer's verdicts over time, in blocks of consecutive verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.ratings import RATING_IDS, RATING_VALUES
from domain.verdicts import Decision
from measures.means import Mean, mean_by_cluster
from measures.proportions import Proportion, wilson_by_cluster
from records.columns import DECISIONS, LatestVerdicts

DEFAULT_BLOCK = 25
#: The maximum number of blocks per person.
_MAX_BLOCKS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftBlock:
    """The verdicts ``first`` to ``last`` of a person, counted from 1. The last block may be shorter.

    ``ratings`` has the mean of each rating (1 to 5) by its id. ``seconds`` is the mean viewing time until the
    first verdict.
    """

    first: int
    last: int
    accepted: Proportion
    ratings: dict[str, Mean]
    seconds: Mean


def choose_block_size(max_verdicts: int) -> int:
    """Return the number of verdicts per block: the smallest multiple of 25 that gives at most 40 blocks.

    Args:
        max_verdicts: the largest number of verdicts of any reviewer of the batch.
    """
    return DEFAULT_BLOCK * max(1, math.ceil(max_verdicts / (DEFAULT_BLOCK * _MAX_BLOCKS)))


def compute_drift(verdicts: LatestVerdicts, *, block: int = DEFAULT_BLOCK) -> tuple[DriftBlock, ...]:
    """Compute the blocks of one person.

    Args:
        verdicts: the person's verdicts with ratings, in any order; the blocks follow the time of the first
            revision.
        block: the number of verdicts per block.
    """
    order = np.lexsort((verdicts.questions, verdicts.first_given_at))
    return tuple(
        _compute_block(start + 1, verdicts, order[start : start + block])
        for start in range(0, len(order), block)
    )


def _compute_block(first: int, verdicts: LatestVerdicts, rows: NDArray[np.int64]) -> DriftBlock:
    exams, ratings = verdicts.exams[rows], {}
    accepted = verdicts.decisions[rows] == DECISIONS.index(Decision.ACCEPT)
    for rating_id, rating_column in zip(RATING_IDS, verdicts.ratings.T, strict=True):
        values = rating_column[rows]
        is_rated = values > 0
        ratings[rating_id] = mean_by_cluster(
            values[is_rated], exams[is_rated], minimum=RATING_VALUES[0], maximum=RATING_VALUES[-1]
        )
    return DriftBlock(
        first=first,
        last=first + len(rows) - 1,
        accepted=wilson_by_cluster(accepted, exams),
        ratings=ratings,
        seconds=mean_by_cluster(verdicts.first_seconds[rows], exams, minimum=0),
    )
