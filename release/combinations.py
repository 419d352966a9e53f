"""Encodes the verdicts on each question as a bit set, so that many questions are counted at once.

A verdict is described by its decision, the form fields that its batch requests, and whether it corrects
anything. There are few such descriptions, and each has its own bit. The bits of all verdicts on a question
are combined with OR.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from domain.batches import Batch, FormScope
from domain.verdicts import Decision
from records.columns import DECISIONS, LatestVerdicts

_FORM_SCOPES = tuple(FormScope)


def combine_verdicts(
    latest_verdicts: LatestVerdicts, batches: Sequence[Batch]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compute the bit set of the verdicts on each question.

    Args:
        latest_verdicts: the latest verdicts of these batches, sorted by question.
        batches: the batches whose verdicts count.

    Returns:
        The ids of the judged questions and their bit sets, both of shape (q,).
    """
    rows = latest_verdicts.find_latest_rows()
    questions = latest_verdicts.questions[rows]
    starts = np.flatnonzero(np.diff(questions, prepend=-1))
    if not len(starts):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    scope_index = np.select(
        [latest_verdicts.batches[rows] == batch.id for batch in batches],
        [_FORM_SCOPES.index(batch.settings.parts) for batch in batches],
    )
    codes = (
        latest_verdicts.decisions[rows].astype(np.int64) * len(_FORM_SCOPES) + scope_index
    ) * 2 + latest_verdicts.corrects[rows]
    return questions[starts], np.bitwise_or.reduceat(np.left_shift(1, codes), starts)


def decode_combination(combination: int) -> frozenset[tuple[Decision, FormScope, bool]]:
    """Return the verdicts of a bit set: (decision, requested form fields, whether nothing was corrected)."""
    judgement_kinds = [
        (decision, scope, not corrects)
        for decision in DECISIONS
        for scope in _FORM_SCOPES
        for corrects in (0, 1)
    ]
    return frozenset(
        judgement_kind for bit, judgement_kind in enumerate(judgement_kinds) if combination >> bit & 1
    )
