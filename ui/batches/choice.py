"""Lets a person choose the batch that a page shows."""

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
    """Return all batches. If there are none, show an empty state with the text ``next_step``."""
    with read_only_session() as db:
        batches = list_batch_overviews(db, by=person)
    if not batches:
        show_empty_state("No batch yet", next_step, page="pages/sampling.py", label="Draw a batch")
    return batches


def choose_batch(batches: Sequence[BatchOverview], *, key: str, default_index: int | None = None) -> Batch:
    """Show the select box for batches and return the chosen batch.

    The default is the batch that was chosen on the previous page, otherwise the batch at ``default_index``,
    otherwise the largest open batch.

    Args:
        batches: the batches to choose from.
        key: the key of the widget, a different one for each page.
        default_index: the index of the default batch; None for the largest open batch.
    """
    names = [overview.batch.name for overview in batches]
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
    """Return the index of the open batch with the most requested judgements.

    Ties are broken by the number of questions, then by position. If all batches are closed, the largest
    closed batch is returned.
    """
    return max(range(len(batches)), key=lambda i: _make_sort_key(batches[i]))


def _make_sort_key(overview: BatchOverview) -> tuple[bool, int, int]:
    return overview.batch.state is BatchState.OPEN, overview.requested, overview.questions
