"""Attention: the reviewers' results on hidden repeats and planted faults of a batch."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from review import service as review
from ui.batches.attention import show_attention_panel
from ui.batches.choice import choose_batch, load_batches_or_show_empty
from ui.context import read_only_session, require_page
from ui.widgets import escape_markdown, screen, show_empty_state


@screen
def main() -> None:
    """One batch at a time."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Attention")
    batches = load_batches_or_show_empty(
        person, "Once questions are hidden in a batch, how reviewers do on them is shown here."
    )
    if not batches:
        return
    with read_only_session() as db:
        hidden_counts = review.count_hidden_by_batch(db, by=person)
    batch = choose_batch(
        batches, key="batch-to-watch", default_index=_find_default_index(batches, hidden_counts)
    )
    with st.spinner("Comparing verdicts"), read_only_session() as db:
        attention = review.compute_batch_attention(db, by=person, batch=batch.name)
    if not attention.hidden:
        show_empty_state(
            "Nothing is hidden in this batch",
            "Hide repeats and planted faults under Batches, Hidden questions: no reviewer can tell them."
            + (f" {attention.removed:,} were removed." if attention.removed else "")
            + _describe_other_batches(batches, hidden_counts),
            page="pages/assign.py",
            label="Hide questions",
        )
        return
    removed_text = f" {attention.removed:,} more were removed and don't count." if attention.removed else ""
    st.caption(
        escape_markdown(
            f"{attention.judged:,} of {attention.hidden:,} hidden questions are judged.{removed_text} Seen by"
            " coordinators alone; nothing of it is in any other figure."
        )
    )
    show_attention_panel(attention)


def _find_default_index(batches: list[review.BatchOverview], hidden_counts: dict[int, int]) -> int | None:
    """The index of the batch with the most hidden questions; None if no batch has any."""
    if not hidden_counts:
        return None
    return max(range(len(batches)), key=lambda i: hidden_counts.get(batches[i].batch.id, 0))


def _describe_other_batches(batches: list[review.BatchOverview], hidden_counts: dict[int, int]) -> str:
    names = ", ".join(overview.batch.name for overview in batches if overview.batch.id in hidden_counts)
    return f" There are some in: {names}." if names else ""


main()
