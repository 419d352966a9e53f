"""Attention: the reviewers' results on hidden repeats and planted faults of a batch."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from review import service as review
from ui.batches.attention import attention_panel
from ui.batches.choice import batches_or_empty, choose_batch
from ui.context import reading, require_page
from ui.parts import empty_state, plain, screen


@screen
def main() -> None:
    """One batch at a time."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Attention")
    batches = batches_or_empty(
        person, "Once questions are hidden in a batch, how reviewers do on them is shown here."
    )
    if not batches:
        return
    with reading() as db:
        somewhere = review.batches_with_hidden(db, by=person)
    batch = choose_batch(batches, key="batch-to-watch", first=_first(batches, somewhere))
    with st.spinner("Comparing verdicts"), reading() as db:
        found = review.batch_attention(db, by=person, batch=batch.name)
    if not found.hidden:
        empty_state(
            "Nothing is hidden in this batch",
            "Hide repeats and planted faults under Batches, Hidden questions: no reviewer can tell them."
            + (f" {found.removed:,} were removed." if found.removed else "")
            + _elsewhere(batches, somewhere),
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


def _first(batches: list[review.BatchOverview], somewhere: dict[int, int]) -> int | None:
    """The index of the batch with the most hidden questions; None if no batch has any."""
    if not somewhere:
        return None
    return max(range(len(batches)), key=lambda place: somewhere.get(batches[place].batch.id, 0))


def _elsewhere(batches: list[review.BatchOverview], somewhere: dict[int, int]) -> str:
    names = ", ".join(each.batch.name for each in batches if each.batch.id in somewhere)
    return f" There are some in: {names}." if names else ""


main()
