"""Patient data: to which language models a dataset may be sent."""

from __future__ import annotations

import streamlit as st

from domain.language_models import DataUse, describe_permitted
from domain.people import Person
from language_models import service as models
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import run_action, show_notice


def show_data_use_form(dataset: str, person: Person) -> None:
    """Show the form for a dataset."""
    with read_only_session() as db:
        current = models.list_data_use(db, by=person)[dataset]
    key = f"data-use-{dataset}-{current.value}"
    st.caption(
        "Reports, questions and radiographs of this dataset are sent to these endpoints only. Licences "
        "differ: "
        "PhysioNet allows MIMIC texts to be sent to local models, and to providers with zero retention, no "
        "human "
        "review and no "
        "training."
    )
    with st.form(key, border=False):
        st.radio(
            "May be sent to",
            list(DataUse),
            index=list(DataUse).index(current),
            key=f"{key}-choice",
            format_func=describe_permitted,
        )
        st.form_submit_button(
            "Save",
            on_click=run_action,
            args=(_save_data_use, dataset, key),
            kwargs={"notice_key": "data-use"},
        )
    show_notice("data-use")


def _save_data_use(dataset: str, key: str) -> str:
    chosen_use = DataUse(str(state.get_widget_value(f"{key}-choice")))
    with unit_of_work() as db:
        models.set_data_use(db, by=current_person(), dataset=dataset, data_use=chosen_use, now=clock())
    return f"Saved. {dataset} may be sent to {describe_permitted(chosen_use)}."
