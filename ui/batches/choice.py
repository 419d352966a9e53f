"""The choice of the batch that a page shows."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.batches import Batch, BatchState
from domain.people import Person
from review.service import BatchOverview, list_batch_overviews
from ui import state
from ui.context import read_only_session
from ui.widgets import show_empty_state


def load_batches_or_show_empty(person: Person, next_step: str) -> list[BatchOverview]:
    """Return all batches. If there is none, the page shows that, with ``next_step`` as the next step."""
    with read_only_session() as db:
        batches = list_batch_overviews(db, by=person)
    if not batches:
        show_empty_state("No batch yet", next_step, page="pages/sampling.py", label="Draw a batch")
    return batches


def choose_batch(batches: Sequence[BatchOverview], *, key: str, default_index: int | None = None) -> Batch:
    """Draw the selection of a batch.

    The default is the batch chosen on the page before, else the one at index ``default_index``, else the
    largest
    open one. ``key`` is the widget's key; it differs from page to page.
    """
    names = [summary.batch.name for summary in batches]
    previous_name = state.get_selection("batch")
    fallback_index = find_largest_open(batches) if default_index is None else default_index
    selected_index = (
        names.index(previous_name)
        if isinstance(previous_name, str) and previous_name in names
        else fallback_index
    )
    name = st.selectbox("Batch", names, index=selected_index, key=key)
    state.set_selection("batch", name)
    return batches[names.index(name)].batch


def find_largest_open(batches: Sequence[BatchOverview]) -> int:
    """Return the index of the open batch that requests most judgements, then of the one with most questions.

    The first one wins a tie. If every batch is closed, all are candidates.
    """
    return max(range(len(batches)), key=lambda i: _batch_sort_key(batches[i]))


def _batch_sort_key(summary: BatchOverview) -> tuple[bool, int, int]:
    return summary.batch.state is BatchState.OPEN, summary.requested, summary.questions
