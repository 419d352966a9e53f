"""Who adjudicates a batch's disputes, and by which rules: a part of the page Batches."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.adjudications import AdjudicationRules
from domain.people import Person
from review.service import adjudication_rules, change_adjudication_rules
from ui.context import clock, current_person, reading, unit_of_work
from ui.parts import act, notices


def show_disputes(person: Person, batch: str, reviewers: Sequence[str]) -> None:
    """Draw the rules; ``reviewers`` are the sign-in names that can be chosen as adjudicators."""
    with reading() as db:
        kept = adjudication_rules(db, by=person, batch=batch)
    key = f"disputes-{batch}-{kept.revision}"
    st.caption(
        "Where two reviewers of a question disagree, an adjudicator who did not judge it settles it, on the "
        "page Adjudicate. A release has the settled form; open disputes are left out."
    )
    adjudicators = st.multiselect(
        "Adjudicators",
        sorted({*reviewers, *kept.rules.adjudicators}),
        default=list(kept.rules.adjudicators),
        key=f"{key}-adjudicators",
        placeholder="nobody yet",
    )
    left, right = st.columns(2, vertical_alignment="bottom")
    hidden = left.checkbox("Hide the reviewers' names", value=kept.rules.hide_names, key=f"{key}-hidden")
    same_box = right.number_input(
        "Boxes are the same from IoU",
        min_value=0.05,
        max_value=1.0,
        step=0.05,
        value=kept.rules.same_box,
        key=f"{key}-iou",
        help="The area that two boxes share, of the area that they cover together.",
    )
    rules = AdjudicationRules(adjudicators=tuple(adjudicators), hide_names=hidden, same_box=float(same_box))
    st.button(
        "Save the rules",
        key=f"{key}-save",
        disabled=rules == kept.rules,
        on_click=act,
        args=(_save, batch, rules, kept.revision),
        kwargs={"place": "disputes"},
    )
    notices("disputes")


def _save(batch: str, rules: AdjudicationRules, revision: int) -> str:
    with unit_of_work() as db:
        change_adjudication_rules(
            db, by=current_person(), batch=batch, rules=rules, revision=revision, now=clock()
        )
    return f"The rules for disputes of {batch} are saved."
