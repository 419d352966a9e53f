"""Attention: the reviewers' results on hidden repeats and planted faults of a batch."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Action
from review import service as review
from ui.batches.attention import show_attention_panel
from ui.batches.choice import choose_batch, load_batches_or_show_empty
from ui.context import read_only_session, require_page
from ui.widgets import escape_markdown, page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show one batch."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Reviewer attention")
    batches = load_batches_or_show_empty(person, "Results are shown once a batch has hidden questions.")
    if not batches:
        return
    with read_only_session() as db:
        hidden_counts = review.count_hidden_by_batch(db, by=person)
    batch = choose_batch(
        batches, key="batch-to-watch", default_index=_find_default_index(batches, hidden_counts)
    )
    with st.spinner("Comparing verdicts"), read_only_session() as db:
        attention = review.compute_batch_attention(db, by=person, batch=batch.name)
    if not attention.hidden_count:
        show_empty_state(
            "No hidden questions in this batch",
            "Hide repeats and planted faults on the page Batches, under Hidden questions. Reviewers cannot "
            "recognise them."
            + (
                f" {count_text(attention.removed_count, 'hidden question')} removed."
                if attention.removed_count
                else ""
            )
            + _describe_other_batches(batches, hidden_counts),
            page="pages/assign.py",
            label="Hide questions",
        )
        return
    removed_text = (
        f" {attention.removed_count:,} more removed and not counted." if attention.removed_count else ""
    )
    st.caption(
        escape_markdown(
            f"{attention.judged_count:,} of {count_text(attention.hidden_count, 'hidden question')} "
            f"judged.{removed_text} Only coordinators see this page. Hidden questions are not included in "
            "any other result."
        )
    )
    show_attention_panel(attention)


def _find_default_index(batches: list[review.BatchOverview], hidden_counts: dict[int, int]) -> int | None:
    """Return the index of the batch with the most hidden questions; None if no batch has any."""
    if not hidden_counts:
        return None
    return max(range(len(batches)), key=lambda i: hidden_counts.get(batches[i].batch.id, 0))


def _describe_other_batches(batches: list[review.BatchOverview], hidden_counts: dict[int, int]) -> str:
    names = ", ".join(overview.batch.name for overview in batches if overview.batch.id in hidden_counts)
    return f" Batches with hidden questions: {names}." if names else ""


main()
