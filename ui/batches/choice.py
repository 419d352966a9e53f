"""Which batch a page shows first."""

from __future__ import annotations

from collections.abc import Sequence

from domain.batches import BatchState
from review.service import BatchOverview


def largest_open(batches: Sequence[BatchOverview]) -> int:
    """The place of the open batch that asks for most judgements, then of the one with most questions.

    The first of equal ones; among all of them when every batch is closed.
    """
    return max(range(len(batches)), key=lambda place: _weight(batches[place]))


def _weight(each: BatchOverview) -> tuple[bool, int, int]:
    return each.batch.state is BatchState.OPEN, each.asked, each.questions
