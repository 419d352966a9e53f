"""Attention: how the reviewers of a batch do on hidden repeats and planted faults."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch
from domain.people import Action
from review import service as review
from ui import state
from ui.batches.attention import attention_panel
from ui.batches.choice import largest_open
from ui.context import reading, require_page
from ui.parts import empty_state, plain, screen


@screen
def main() -> None:
    """One batch at a time."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Attention")
    with reading() as db:
        batches = review.overview(db, by=person)
    if not batches:
        empty_state(
            "No batch yet",
            "Once questions are hidden in a batch, how reviewers do on them is shown here.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    batch = _choose(batches)
    with st.spinner("Comparing verdicts"), reading() as db:
        found = review.batch_attention(db, by=person, batch=batch.name)
    if not found.hidden:
        empty_state(
            "Nothing is hidden in this batch",
            "Hide repeats and planted faults under Batches, Hidden questions: no reviewer can tell them."
            + (f" {found.removed:,} were removed." if found.removed else ""),
            page="pages/assign.py",
            label="Hide questions",
        )
        return
    removed = f" {found.removed:,} more were removed and don't count." if found.removed else ""
    st.caption(
        plain(
            f"{found.judged:,} of {found.hidden:,} hidden questions are judged.{removed} Seen by "
            "coordinators alone; nothing of it is in any other figure."
        )
    )
    attention_panel(found)


def _choose(batches: list[review.BatchOverview]) -> Batch:
    names = [each.batch.name for each in batches]
    before = state.chosen("batch")
    name = st.selectbox(
        "Batch",
        names,
        index=names.index(before) if before in names else largest_open(batches),
        key="batch-to-watch",  # allow fixed-widget-key: it is the question itself, nothing is asked about
    )
    state.set_chosen("batch", name)
    return batches[names.index(name)].batch


main()
