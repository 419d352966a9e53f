"""Counting what a release would hold, without a look at the questions whose outcome is plain.

Most are accepted as they are, and a preview of a hundred thousand of them must not read their texts.
"""

from __future__ import annotations

import numpy as np
from sqlmodel import Session

from domain.batches import Batch, Parts
from domain.verdicts import Decision
from records.columns import DECISIONS
from release.rule import plain_outcome
from release.tally import Counting
from storage.release import gold
from storage.review.adjudications import settled_numbers
from storage.review.standing import last_words, standing_verdicts

_PARTS = tuple(Parts)


def count_plain(db: Session, batches: list[Batch], counting: Counting) -> set[int]:
    """Count the judged questions of these batches whose outcome is plain.

    Returns:
        The numbers of the others: those that were adjudicated, and those with corrections.
    """
    ids = [each.id for each in batches]
    standing = standing_verdicts(db, batch_ids=ids)
    rows = last_words(standing)
    questions = standing.questions[rows]
    begins = np.flatnonzero(np.diff(questions, prepend=-1))
    if not len(begins):
        return set()
    judged = questions[begins]
    # What a verdict says, as far as it matters here, is one of few things: a bit each, together by question.
    asked = np.select(
        [standing.batches[rows] == each.id for each in batches], [_place(each) for each in batches]
    )
    said = (standing.decisions[rows].astype(np.int64) * len(_PARTS) + asked) * 2 + standing.corrects[rows]
    together = np.bitwise_or.reduceat(np.left_shift(1, said), begins)
    adjudicated = np.isin(judged, list(settled_numbers(db, batch_ids=ids)))
    names, strata = gold.strata_of(db, batches=batches, numbers=judged)
    left: set[int] = set(judged[adjudicated].tolist())
    for combination in np.unique(together).tolist():
        these = (together == combination) & ~adjudicated
        outcome = plain_outcome(_said(combination))
        if outcome is None:
            left |= set(judged[these].tolist())
            continue
        for name, count in zip(names, np.bincount(strata[these], minlength=len(names)).tolist(), strict=True):
            if count:
                counting.add_plain(outcome, stratum=name, questions=count)
    return left


def _place(batch: Batch) -> int:
    return _PARTS.index(batch.settings.parts)


def _said(combination: int) -> frozenset[tuple[Decision, Parts, bool]]:
    """The things that the bits stand for: the decision, what was asked for, whether nothing was corrected."""
    things = [
        (decision, parts, not corrects) for decision in DECISIONS for parts in _PARTS for corrects in (0, 1)
    ]
    return frozenset(each for bit, each in enumerate(things) if combination >> bit & 1)
