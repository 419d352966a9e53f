"""Assigning a batch to reviewers: the present load of each, a preview of the split, and the assignment."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch, BatchState
from domain.errors import DomainError
from domain.people import Person
from review import service as review
from ui import state
from ui.context import clock, current_person, reading, unit_of_work
from ui.parts import act, empty_state, notices, plain
from ui.tables import table


def giving_panel(batch: Batch, load: review.BatchLoad, reviewers: list[Person]) -> None:
    """Draw the choice of reviewers, the preview of the split, and the button that assigns."""
    table([_load_row(each) for each in load.people], empty="Nobody has a question of this batch yet.")
    st.caption(_waiting(load))
    notices("assign")
    if not reviewers:
        empty_state("No reviewers yet", "An admin gives people the role of reviewer on the page People.")
        return
    shown = {each.name: f"{each.display_name} ({each.name})" for each in reviewers}
    form = state.form(f"assign-{batch.id}")
    people, number = st.columns([3, 1])
    names = people.multiselect(
        "Reviewers",
        list(shown),
        key=f"{form}-to-{batch.id}",
        format_func=shown.__getitem__,
        placeholder="Choose who judges",
        disabled=batch.state is BatchState.CLOSED,
    )
    overlap = number.number_input(
        "Reviewers for each question",
        min_value=1,
        max_value=max(2, len(reviewers)),
        value=1,
        key=f"{form}-overlap-{batch.id}",
        help="1: each question is judged once. 2: a second reviewer is added to every question that has one.",
        disabled=batch.state is BatchState.CLOSED,
    )
    if not names:
        st.caption(
            "This batch is closed; open it again to assign it."
            if batch.state is BatchState.CLOSED
            else "Choose reviewers to see who would get how many. The questions of one exam stay together."
        )
        return
    _preview(batch, load, names, int(overlap), shown)
    st.button(
        "Assign",
        type="primary",
        key=f"{form}-go-{batch.id}",
        on_click=act,
        args=(_save_assignment, batch.name, batch.id, tuple(names), int(overlap)),
        kwargs={"place": "assign"},
    )


def _waiting(load: review.BatchLoad) -> str:
    if load.unassigned:
        return (
            f"{load.unassigned:,} {'question is' if load.unassigned == 1 else 'questions are'} with nobody."
        )
    if load.shared is not None and load.shared.free:
        return f"{load.shared.free:,} judgements wait in the shared queue for whoever is free."
    return "Every question is with a reviewer."


def _preview(
    batch: Batch, load: review.BatchLoad, names: list[str], overlap: int, shown: dict[str, str]
) -> None:
    try:
        with reading() as db:
            would = review.preview_assign(
                db, by=current_person(), batch=batch.name, to=names, overlap=overlap
            )
    except DomainError as error:
        st.error(plain(str(error)))
        return
    left = {each.person.name: each.left for each in load.people}
    table(
        [
            {
                "Reviewer": shown[name],
                "Left now": left.get(name, 0),
                "Would get": count,
                "Left then": left.get(name, 0) + count,
            }
            for name, count in would.given.items()
        ]
    )
    for note in would.notes:
        st.caption(plain(note))


def _load_row(each: review.PersonLoad) -> dict[str, object]:
    return {
        "Reviewer": f"{each.person.display_name} ({each.person.name})",
        "Account": "disabled" if each.person.disabled_at else "active",
        "Done": each.done,
        "Skipped": each.skipped,
        "Left": each.left,
    }


def _save_assignment(batch: str, batch_id: int, names: tuple[str, ...], overlap: int) -> str:
    with unit_of_work() as db:
        summary = review.assign(db, by=current_person(), batch=batch, to=names, overlap=overlap, now=clock())
    state.clear_form(f"assign-{batch_id}")
    return assigned_told("Assigned", summary)


def assigned_told(verb: str, summary: review.AssignSummary) -> str:
    """Describe an assignment: how many questions each reviewer received, with its notes."""
    given = ", ".join(f"{count:,} to {name}" for name, count in summary.given.items())
    return " ".join([f"{verb}: {given}.", *summary.notes])
