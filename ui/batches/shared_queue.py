"""Shows the shared queue of a batch, and opens or extends it."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch, BatchState
from domain.count_texts import count_text
from domain.people import Person
from review import service as review
from ui import state
from ui.context import clock, current_person, unit_of_work
from ui.widgets import escape_markdown, run_action, show_notice


def show_shared_queue_panel(batch: Batch, workload: review.BatchWorkload, reviewers: list[Person]) -> None:
    """Show the state of the queue and the form that opens it or adds reviewers."""
    shared = workload.shared
    if shared is None:
        st.caption(
            "In a shared queue, reviewers take questions one by one instead of receiving a fixed "
            "share. A question without activity returns to the queue."
        )
    else:
        member_names = ", ".join(shared.members) or "none"
        st.markdown(escape_markdown(f"Reviewers: {member_names}. Reviewers per question: {shared.overlap}."))
        free_column, claimed_column, done_column = st.columns(3)
        free_column.metric("Available", f"{shared.free:,}")
        claimed_column.metric("In progress", f"{shared.claimed:,}")
        done_column.metric("Judged", f"{shared.done:,}")
        idle_time = count_text(shared.idle_minutes, "minute")
        st.caption(f"A question returns to the queue after {idle_time} without activity.")
    is_closed = batch.state is BatchState.CLOSED
    if is_closed or not reviewers:
        st.caption("Reopen the batch to change the queue." if is_closed else "No reviewers yet.")
    else:
        _show_form(batch, shared, reviewers)
    show_notice("share")


def _show_form(batch: Batch, shared: review.SharedQueueWorkload | None, reviewers: list[Person]) -> None:
    reviewer_labels = {reviewer.name: f"{reviewer.display_name} ({reviewer.name})" for reviewer in reviewers}
    form_key = state.form_key(f"share-{batch.id}")
    people_column, overlap_column, minutes_column = st.columns([3, 1, 1])
    names = people_column.multiselect(
        "Reviewers of the queue",
        list(reviewer_labels),
        key=f"{form_key}-to-{batch.id}",
        format_func=reviewer_labels.__getitem__,
        placeholder="Choose reviewers",
    )
    overlap = overlap_column.number_input(
        "Reviewers per question",
        min_value=1,
        max_value=max(2, len(reviewers)),
        value=shared.overlap if shared else 1,
        key=f"{form_key}-overlap-{batch.id}",
        help="The number of different reviewers, including those to whom a question is already assigned.",
    )
    idle_minutes = minutes_column.number_input(
        "Minutes until return",
        min_value=1,
        max_value=1440,
        value=shared.idle_minutes if shared else review.DEFAULT_IDLE_MINUTES,
        key=f"{form_key}-idle-{batch.id}",
        help="Counted from the last draft, verdict or image view.",
    )
    st.button(
        "Add to queue" if shared else "Open queue",
        type="primary",
        key=f"{form_key}-go-{batch.id}",
        disabled=not names,
        on_click=run_action,
        args=(_share_batch, batch.name, batch.id, tuple(names), int(overlap), int(idle_minutes)),
        kwargs={"notice_key": "share"},
    )


def _share_batch(batch: str, batch_id: int, names: tuple[str, ...], overlap: int, idle_minutes: int) -> str:
    with unit_of_work() as db:
        shared_queue = review.share_batch(
            db,
            by=current_person(),
            batch=batch,
            to=names,
            overlap=overlap,
            idle_minutes=idle_minutes,
            now=clock(),
        )
    state.clear_form(f"share-{batch_id}")
    return (
        f"{', '.join(shared_queue.members)} can take questions; {count_text(shared_queue.free, 'judgement')}"
        " available."
    )
