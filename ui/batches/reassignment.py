"""Reassigns a reviewer's open questions to other reviewers, or unassigns them."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch
from domain.count_texts import count_text
from domain.people import Person
from review import service as review
from ui import state
from ui.batches.assignments import describe_assignment
from ui.context import clock, current_person, unit_of_work
from ui.widgets import run_action, show_notice


def show_reassignment_panel(batch: Batch, workload: review.BatchWorkload, reviewers: list[Person]) -> None:
    """Show the choice of the present and the new reviewers, and the buttons to reassign and unassign."""
    open_workloads = [person_workload for person_workload in workload.people if person_workload.left]
    if open_workloads:
        _show_form(batch, open_workloads, reviewers)
    else:
        st.caption("No reviewer has open questions in this batch.")
    show_notice("move")


def _show_form(batch: Batch, open_workloads: list[review.PersonWorkload], reviewers: list[Person]) -> None:
    form_key = state.form_key(f"move-{batch.id}")
    from_labels = {
        person_workload.person.name: f"{person_workload.person.display_name} ({person_workload.left:,} left)"
        for person_workload in open_workloads
    }
    from_ = st.selectbox(
        "Open questions of",
        list(from_labels),
        index=None,
        key=f"{form_key}-from-{batch.id}",
        format_func=from_labels.__getitem__,
        placeholder="Choose a reviewer",
    )
    if from_ is None:
        st.caption(
            "Open questions can be reassigned or unassigned. Done and skipped questions stay with the "
            "reviewer."
        )
        return
    to_labels = {
        reviewer.name: f"{reviewer.display_name} ({reviewer.name})"
        for reviewer in reviewers
        if reviewer.name != from_
    }
    to = st.multiselect(
        "Reassign to",
        list(to_labels),
        key=f"{form_key}-to-{batch.id}-{from_}",
        format_func=to_labels.__getitem__,
        placeholder="Choose reviewers",
    )
    move_column, withdraw_column, _ = st.columns([1, 1, 2])
    with move_column:
        st.button(
            "Reassign",
            type="primary",
            key=f"{form_key}-move-{batch.id}-{from_}",
            disabled=not to,
            on_click=run_action,
            args=(_reassign_questions, batch.name, batch.id, from_, tuple(to)),
            kwargs={"notice_key": "move"},
            width="stretch",
        )
    with withdraw_column:
        st.button(
            "Unassign",
            key=f"{form_key}-back-{batch.id}-{from_}",
            on_click=run_action,
            args=(_unassign_questions, batch.name, batch.id, from_),
            kwargs={"notice_key": "move"},
            help="Unassigned questions can be assigned again.",
            width="stretch",
        )


def _reassign_questions(batch: str, batch_id: int, from_: str, to: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        summary = review.reassign(db, by=current_person(), batch=batch, from_=from_, to=to, now=clock())
    state.clear_form(f"move-{batch_id}")
    return describe_assignment("Reassigned", summary)


def _unassign_questions(batch: str, batch_id: int, from_: str) -> str:
    with unit_of_work() as db:
        withdrawn_count = review.withdraw(db, by=current_person(), batch=batch, from_=from_, now=clock())
    state.clear_form(f"move-{batch_id}")
    return f"{count_text(withdrawn_count, 'open question')} of {from_} unassigned."
