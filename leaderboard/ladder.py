"""The Ladder: a team's score changes only if a submission is significantly better than the displayed one.

Without the Ladder, a team can raise its score by noise: it submits variants, keeps those with a higher
score, and fits the private questions. With the Ladder, a submission without significant gain returns only
"unchanged".

The step of the Ladder is a test: the exact one-sided sign-flip test of the paired difference, clustered by
patient, at the level 0.05 / t, where t is the total quota. As long as the answer is "unchanged", the next
submission cannot depend on the private questions. Over all submissions of a team, the probability of any
change without a true gain is therefore at most 0.05 for each score that is displayed, whatever the strategy.

Source: Blum A, Hardt M, The Ladder: a reliable leaderboard for machine learning competitions, ICML 2015.
Their step without parameters is one standard error of the difference; see docs/leaderboard.md for a
comparison.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from measures.paired import sign_flip_test

_LEVEL = 0.05


def is_significant_gain(
    new: NDArray[np.bool_],
    displayed: NDArray[np.bool_],
    *,
    clusters: NDArray[np.int64],
    total_quota: int,
) -> bool:
    """Return whether a submission is significantly better than the one whose score is displayed.

    The test is computed for losses too: a faster answer would tell a team that its submission is no gain.

    Args:
        new: whether the submission answered each question correctly, shape (questions,).
        displayed: the same for the submission whose score is displayed.
        clusters: the patient of each question, numbered from 0, shape (questions,).
        total_quota: the number of submissions that the team may make in total.
    """
    differences = new.astype(np.int64) - displayed.astype(np.int64)
    sums = np.bincount(clusters, weights=differences).round().astype(np.int64)
    p_two_sided, _ = sign_flip_test(sums)
    is_significant = p_two_sided / 2 <= _LEVEL / total_quota
    return is_significant and bool(sums.sum() > 0)
