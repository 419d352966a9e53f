"""Which batch a page shows first."""

from __future__ import annotations

from collections.abc import Sequence

from domain.batches import Batch, BatchState


def first_open(batches: Sequence[Batch]) -> int:
    """The place of the first open batch of the list; 0 when all are closed."""
    return next((place for place, batch in enumerate(batches) if batch.state is BatchState.OPEN), 0)
