"""Reassigning a reviewer's open questions to others, or unassigning them."""

from __future__ import annotations

import streamlit as st

from domain.batches import Batch
from domain.people import Person
from review import service as review
from ui import state
from ui.batches.giving import assigned_told
from ui.context import clock, current_person, unit_of_work
from ui.parts import act, notices


def moving_panel(batch: Batch, load: review.BatchLoad, reviewers: list[Person]) -> None:
    """Draw the choice of the present reviewer and of those who take over."""
    notices("move")
    holding = [each for each in load.people if each.left]
    if not holding:
        st.caption("Nobody has an open question of this batch.")
        return
    form = state.form(f"move-{batch.id}")
    left = {each.person.name: f"{each.person.display_name} ({each.left:,} left)" for each in holding}
    from_ = st.selectbox(
        "Open questions of",
        list(left),
        index=None,
        key=f"{form}-from-{batch.id}",
        format_func=left.__getitem__,
        placeholder="Choose whose",
    )
    if from_ is None:
        st.caption("What is done or skipped stays where it is; open questions move, or go back to nobody.")
        return
    shown = {each.name: f"{each.display_name} ({each.name})" for each in reviewers if each.name != from_}
    to = st.multiselect(
        "Move them to",
        list(shown),
        key=f"{form}-to-{batch.id}-{from_}",
        format_func=shown.__getitem__,
        placeholder="Choose who takes over",
    )
    moving, taking, _ = st.columns([1, 1, 2])
    with moving:
        st.button(
            "Move",
            type="primary",
            key=f"{form}-move-{batch.id}-{from_}",
            disabled=not to,
            on_click=act,
            args=(_save_move, batch.name, batch.id, from_, tuple(to)),
            kwargs={"place": "move"},
            width="stretch",
        )
    with taking:
        st.button(
            "Take back",
            key=f"{form}-back-{batch.id}-{from_}",
            on_click=act,
            args=(_take_back, batch.name, batch.id, from_),
            kwargs={"place": "move"},
            help="They are with nobody then, and can be assigned again.",
            width="stretch",
        )


def _save_move(batch: str, batch_id: int, from_: str, to: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        summary = review.reassign(db, by=current_person(), batch=batch, from_=from_, to=to, now=clock())
    state.clear_form(f"move-{batch_id}")
    return assigned_told("Moved", summary)


def _take_back(batch: str, batch_id: int, from_: str) -> str:
    with unit_of_work() as db:
        taken = review.withdraw(db, by=current_person(), batch=batch, from_=from_, now=clock())
    state.clear_form(f"move-{batch_id}")
    return f"{taken:,} open questions of {from_} were taken back; they are with nobody now."
