"""Shows and changes the adjudication rules of a batch, on the page Batches."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.adjudications import AdjudicationRules
from domain.people import Person
from review.service import change_adjudication_rules, load_adjudication_rules
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import run_action, show_notice


def show_dispute_rules(person: Person, batch: str, reviewers: Sequence[str]) -> None:
    """Show the adjudication rules of a batch and the button that saves them.

    Args:
        person: the coordinator.
        batch: the name of the batch.
        reviewers: the sign-in names that can be chosen as adjudicators.
    """
    with read_only_session() as db:
        saved = load_adjudication_rules(db, by=person, batch=batch)
    key_prefix = f"disputes-{batch}-{saved.revision}"
    st.caption(
        "When two reviewers disagree on a question, an adjudicator who did not judge it decides on the "
        "page Adjudicate. Releases contain the final version and exclude open disputes."
    )
    adjudicators = st.multiselect(
        "Adjudicators",
        sorted({*reviewers, *saved.rules.adjudicators}),
        default=list(saved.rules.adjudicators),
        key=f"{key_prefix}-adjudicators",
        placeholder="None",
    )
    left, right = st.columns(2, vertical_alignment="bottom")
    hide_names = left.checkbox(
        "Hide the reviewers' names", value=saved.rules.hide_names, key=f"{key_prefix}-hidden"
    )
    min_iou = right.number_input(
        "Same box from IoU",
        min_value=0.05,
        max_value=1.0,
        step=0.05,
        value=saved.rules.same_box_iou,
        key=f"{key_prefix}-iou",
        help=(
            "Intersection over union: the area that two boxes share, divided by the area that they cover "
            "together."
        ),
    )
    rules = AdjudicationRules(
        adjudicators=tuple(adjudicators), hide_names=hide_names, same_box_iou=float(min_iou)
    )
    st.button(
        "Save rules",
        key=f"{key_prefix}-save",
        disabled=rules == saved.rules,
        on_click=run_action,
        args=(_save_rules, batch, rules, saved.revision),
        kwargs={"notice_key": "disputes"},
    )
    show_notice("disputes")


def _save_rules(batch: str, rules: AdjudicationRules, revision: int) -> str:
    with unit_of_work() as db:
        change_adjudication_rules(
            db, by=current_person(), batch=batch, rules=rules, revision=revision, now=clock()
        )
    return f"Adjudication rules of {batch} saved."
