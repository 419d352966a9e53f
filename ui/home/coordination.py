"""The part of Home for coordinators: the next step, the stages, and the progress of the newest batches."""

from __future__ import annotations

import streamlit as st

from domain.batches import BatchState
from domain.count_texts import count_text
from domain.people import Person
from review.service import BatchOverview
from ui import state
from ui.home.next_step import find_next_step
from ui.home.stage_tiles import build_tiles, show_tiles
from ui.home.workspace_state import WorkspaceState, load_workspace_state
from ui.widgets import escape_markdown, go_to

_MAX_BATCHES = 8


def show_coordination(person: Person) -> None:
    """Show the next step, the tiles of the stages, and the progress of the newest batches."""
    workspace = load_workspace_state(person)
    _show_next_step(workspace)
    show_tiles(build_tiles(workspace))
    if workspace.batches:
        st.subheader("Batches")
        for overview in workspace.batches[:_MAX_BATCHES]:
            _show_batch_progress(overview)
        if len(workspace.batches) > _MAX_BATCHES:
            count = f"{len(workspace.batches):,}"
            st.caption(f"The newest {_MAX_BATCHES} of {count}. The page Batches lists all of them.")


def _show_next_step(workspace: WorkspaceState) -> None:
    step = find_next_step(workspace)
    with st.container(border=True):
        text_column, button_column = st.columns([4, 1], vertical_alignment="center")
        text_column.markdown(
            f"Next: **{escape_markdown(step.situation)}** {escape_markdown(step.instruction)}"
        )
        if button_column.button(step.label, key="next-step", type="primary", width="stretch"):
            go_to(step.page)


def _show_batch_progress(overview: BatchOverview) -> None:
    details = [
        count_text(overview.questions, "question"),
        f"{overview.done:,} of {count_text(overview.requested, 'judgement')} done",
    ]
    if overview.skipped:
        details.append(f"{count_text(overview.skipped, 'question')} skipped")
    if overview.batch.state is BatchState.CLOSED:
        details.append("closed")
    name_column, bar_column = st.columns([1, 3], vertical_alignment="center")
    if name_column.button(
        f"**{escape_markdown(overview.batch.name)}**",
        key=f"progress-{overview.batch.id}",
        type="tertiary",
        icon=":material/monitoring:",
        help="View the progress of this batch.",
    ):
        state.set_selection("batch", overview.batch.name)  # the batch that the page Progress opens
        go_to("pages/progress.py")
    bar_column.progress(
        overview.done / overview.requested if overview.requested else 0.0,
        text=escape_markdown(" · ".join(details)),
    )
