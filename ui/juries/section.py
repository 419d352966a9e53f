"""Juries: the section of the page Checks with results, the latest jury, and the form for the next one."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from quality.service import DatasetSummary, list_juries, load_jury_results
from ui.context import read_only_session
from ui.juries.plan_form import show_plan_form
from ui.juries.progress import show_jury
from ui.juries.results import show_results


def show_juries(dataset: DatasetSummary, person: Person) -> None:
    """Show the section for a dataset."""
    with read_only_session() as db:
        juries = list_juries(db, by=person, dataset=dataset.name)
        results = load_jury_results(db, by=person, dataset=dataset.name)
    with st.expander("Juries of language models", key=f"juries-{dataset.id}"):
        st.caption(
            "Models of two or more families answer fixed items on each question. A model never judges what a "
            "model of its family wrote, unless you give a reason."
        )
        if juries:
            labels = {jury.id: f"{jury.id} · {jury.planned_at:%Y-%m-%d %H:%M} UTC" for jury in juries}
            chosen_id = st.selectbox(
                "Jury",
                [jury.id for jury in juries],
                format_func=lambda jury_id: labels[jury_id],
                key=f"jury-of-{dataset.id}-{len(juries)}",
                width=320,
            )
            show_jury(chosen_id)
        show_results(results)
        show_plan_form(dataset, person)
