"""Batches: assign questions to reviewers, set how they are judged, and close or reopen a batch."""

from __future__ import annotations

import streamlit as st

from accounts.service import list_people_with_role
from domain.batches import Batch, BatchState, Mode
from domain.people import Action, Role
from review import service as review
from ui.batches.assignments import show_assignment_panel
from ui.batches.choice import choose_batch, load_batches_or_show_empty
from ui.batches.disputes import show_dispute_rules
from ui.batches.hidden_questions import show_hidden_panel
from ui.batches.practice import show_practice_panel
from ui.batches.reassignment import show_reassignment_panel
from ui.batches.second_opinions import show_second_opinions_panel
from ui.batches.settings import show_settings_panel
from ui.batches.shared_queue import show_shared_queue_panel
from ui.context import clock, current_person, read_only_session, require_page, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, page_fragment, run_action, show_notice

_KEY_TEXTS = {Mode.JUDGE: "from the start", Mode.ANSWER_FIRST: "after own answer"}
_TAB_LABELS = (
    "Assign", "Shared queue", "Reassign or unassign", "Review settings", "Disputes", "Hidden questions",
    "Practice",
)  # fmt: skip


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a save."""
    person = require_page(Action.ASSIGN)
    st.title("Batches")
    batches = load_batches_or_show_empty(
        person, "Draw a batch from a dataset, then assign it to reviewers here."
    )
    if not batches:
        return
    show_table([_overview_row(overview) for overview in batches], visible_rows=6)
    batch = choose_batch(batches, key="batch-to-manage")
    _show_header(batch)
    (
        assignment_tab, queue_tab, reassignment_tab, settings_tab, disputes_tab, hidden_tab, practice_tab,
    ) = st.tabs(_TAB_LABELS)  # fmt: skip
    with read_only_session() as db:
        workload = review.load_batch_workload(db, by=person, batch=batch.name)
        reviewers = [
            reviewer
            for reviewer in list_people_with_role(db, role=Role.REVIEWER)
            if reviewer.disabled_at is None
        ]
    with assignment_tab:
        show_assignment_panel(batch, workload, reviewers)
        show_second_opinions_panel(batch, reviewers)
    with queue_tab:
        show_shared_queue_panel(batch, workload, reviewers)
    with reassignment_tab:
        show_reassignment_panel(batch, workload, reviewers)
    with settings_tab:
        show_settings_panel(batch, person)
    with disputes_tab:
        show_dispute_rules(person, batch.name, [reviewer.name for reviewer in reviewers])
    with hidden_tab:
        show_hidden_panel(batch)
    with practice_tab:
        show_practice_panel(batch, reviewers)


def _overview_row(overview: review.BatchOverview) -> dict[str, object]:
    return {
        "Batch": overview.batch.name,
        "Dataset": overview.dataset,
        "State": overview.batch.state.value,
        "Answer key shown": _KEY_TEXTS[overview.batch.settings.mode],
        "Fields requested": overview.batch.settings.parts.value,
        "Questions": overview.questions,
        "Judgements requested": overview.requested,
        "Done": overview.done,
        "Skipped": overview.skipped,
        "Left": overview.left,
    }


def _show_header(batch: Batch) -> None:
    is_closed = batch.state is BatchState.CLOSED
    left, right = st.columns([4, 1], vertical_alignment="center")
    with left:
        st.markdown(
            f"**{escape_markdown(batch.name)}** is "
            + ("closed: it accepts no judgements." if is_closed else "open: reviewers can judge.")
        )
    with right:
        st.button(
            "Reopen batch" if is_closed else "Close batch",
            key=f"state-{batch.id}-{batch.revision}",
            on_click=run_action,
            args=(_reopen_batch if is_closed else _close_batch, batch.name),
            kwargs={"notice_key": "state", "toggle_key": f"state-{batch.id}"},
            help="Existing reviews are kept. A closed batch can be reopened.",
            width="stretch",
        )
    show_notice("state")


def _close_batch(batch: str) -> str:
    with unit_of_work() as db:
        review.close_batch(db, by=current_person(), batch=batch, now=clock())
    return f"Batch {batch} is closed."


def _reopen_batch(batch: str) -> str:
    with unit_of_work() as db:
        review.reopen_batch(db, by=current_person(), batch=batch, now=clock())
    return f"Batch {batch} is reopened."


main()
