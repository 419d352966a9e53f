"""The choice of the batch that a page shows."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.batches import Batch, BatchState
from domain.people import Person
from review.service import BatchOverview, overview
from ui import state
from ui.context import reading
from ui.parts import empty_state


def batches_or_empty(person: Person, what_next: str) -> list[BatchOverview]:
    """Return all batches. If there is none, the page shows that, with ``what_next`` as the next step."""
    with reading() as db:
        batches = overview(db, by=person)
    if not batches:
        empty_state("No batch yet", what_next, page="pages/sampling.py", label="Draw a batch")
    return batches


def choose_batch(batches: Sequence[BatchOverview], *, key: str, first: int | None = None) -> Batch:
    """Draw the selection of a batch.

    The default is the batch chosen on the page before, else the one at index ``first``, else the largest
    open one. ``key`` is the widget's key; it differs from page to page.
    """
    names = [each.batch.name for each in batches]
    before = state.chosen("batch")
    begin = largest_open(batches) if first is None else first
    place = names.index(before) if isinstance(before, str) and before in names else begin
    name = st.selectbox("Batch", names, index=place, key=key)
    state.set_chosen("batch", name)
    return batches[names.index(name)].batch


def largest_open(batches: Sequence[BatchOverview]) -> int:
    """Return the index of the open batch that requests most judgements, then of the one with most questions.

    The first one wins a tie. If every batch is closed, all are candidates.
    """
    return max(range(len(batches)), key=lambda place: _weight(batches[place]))


def _weight(each: BatchOverview) -> tuple[bool, int, int]:
    return each.batch.state is BatchState.OPEN, each.asked, each.questions
