"""Assigns the questions of a batch to reviewers, and shows the workload of each reviewer."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch, BatchState
from domain.count_texts import count_text
from domain.errors import DomainError
from domain.people import Person
from review import service as review
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_empty_state, show_notice


def show_assignment_panel(batch: Batch, workload: review.BatchWorkload, reviewers: list[Person]) -> None:
    """Show the workloads, the choice of reviewers, a preview, and the button that assigns."""
    show_table(
        [_build_workload_row(person_workload) for person_workload in workload.people],
        empty="No questions of this batch are assigned yet.",
    )
    st.caption(_describe_unassigned(workload))
    if not reviewers:
        show_empty_state("No reviewers yet", "An admin can assign the role reviewer on the page People.")
        return
    _show_form(batch, workload, reviewers)
    show_notice("assign")


def _show_form(batch: Batch, workload: review.BatchWorkload, reviewers: list[Person]) -> None:
    reviewer_labels = {reviewer.name: f"{reviewer.display_name} ({reviewer.name})" for reviewer in reviewers}
    form_key = state.form_key(f"assign-{batch.id}")
    people_column, number_column = st.columns([3, 1])
    names = people_column.multiselect(
        "Reviewers",
        list(reviewer_labels),
        key=f"{form_key}-to-{batch.id}",
        format_func=reviewer_labels.__getitem__,
        placeholder="Choose reviewers",
        disabled=batch.state is BatchState.CLOSED,
    )
    overlap = number_column.number_input(
        "Reviewers per question",
        min_value=1,
        max_value=max(2, len(reviewers)),
        value=1,
        key=f"{form_key}-overlap-{batch.id}",
        help="1: each question is judged once. 2: a second reviewer is added to every question that has one.",
        disabled=batch.state is BatchState.CLOSED,
    )
    if not names:
        st.caption(
            "This batch is closed. Reopen it to assign questions."
            if batch.state is BatchState.CLOSED
            else "Choose reviewers to preview the split. Questions of one exam go to the same reviewer."
        )
        return
    _show_preview(batch, workload, names, int(overlap), reviewer_labels)
    st.button(
        "Assign",
        type="primary",
        key=f"{form_key}-go-{batch.id}",
        on_click=run_action,
        args=(_save_assignment, batch.name, batch.id, tuple(names), int(overlap)),
        kwargs={"notice_key": "assign"},
    )


def _describe_unassigned(workload: review.BatchWorkload) -> str:
    if workload.unassigned:
        return f"{count_text(workload.unassigned, 'question')} unassigned."
    if workload.shared is not None and workload.shared.free:
        return f"{count_text(workload.shared.free, 'judgement')} available in the shared queue."
    return "All questions are assigned. Choose reviewers only to add another reviewer to each question."


def _show_preview(
    batch: Batch,
    workload: review.BatchWorkload,
    names: list[str],
    overlap: int,
    reviewer_labels: dict[str, str],
) -> None:
    try:
        with read_only_session() as db:
            preview = review.preview_assign(
                db, by=current_person(), batch=batch.name, to=names, overlap=overlap
            )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return
    left_by_name = {person_workload.person.name: person_workload.left for person_workload in workload.people}
    show_table(
        [
            {
                "Reviewer": reviewer_labels[name],
                "Left now": left_by_name.get(name, 0),
                "New": count,
                "Left after": left_by_name.get(name, 0) + count,
            }
            for name, count in preview.assigned.items()
        ]
    )
    for note in preview.notes:
        st.caption(escape_markdown(note))


def _build_workload_row(person_workload: review.PersonWorkload) -> dict[str, object]:
    return {
        "Reviewer": f"{person_workload.person.display_name} ({person_workload.person.name})",
        "Account": "disabled" if person_workload.person.disabled_at else "active",
        "Done": person_workload.done,
        "Skipped": person_workload.skipped,
        "Left": person_workload.left,
    }


def _save_assignment(batch: str, batch_id: int, names: tuple[str, ...], overlap: int) -> str:
    with unit_of_work() as db:
        summary = review.assign(db, by=current_person(), batch=batch, to=names, overlap=overlap, now=clock())
    state.clear_form(f"assign-{batch_id}")
    return describe_assignment("Assigned", summary)


def describe_assignment(verb: str, summary: review.AssignSummary) -> str:
    """Describe an assignment: the number of questions of each reviewer, followed by the notes."""
    assignment_text = ", ".join(f"{count:,} to {name}" for name, count in summary.assigned.items())
    return " ".join([f"{verb}: {assignment_text}.", *summary.notes])
