"""Patient data: rules for image files, and passages and pixels that may identify a patient."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from privacy.service import rules
from quality.service import list_datasets
from ui import state
from ui.context import reading, require_page
from ui.parts import empty_state, screen
from ui.patients.rules import rules_form
from ui.patients.texts import texts_part
from ui.patients.wall import pixels_part


@screen
def main() -> None:
    """The page in one fragment, so that a click cannot interrupt what it starts."""
    person = require_page(Action.PROTECT_PATIENTS)
    st.title("Patient data")
    with reading() as db:
        found = rules(db, by=person)
        datasets = [each.name for each in list_datasets(db, by=person)]
    with st.expander("How this workspace keeps image files", expanded=not datasets):
        rules_form(found, person)
    if not datasets:
        empty_state(
            "No dataset yet",
            "Questions and images are searched once they are here.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    left, right = st.columns([1, 1], vertical_alignment="bottom")
    before = state.chosen("dataset")
    dataset = left.selectbox(
        "Dataset",
        datasets,
        index=datasets.index(before) if before in datasets else 0,
        key="dataset-of-patients",  # allow fixed-widget-key: the widget selects the dataset
    )
    state.set_chosen("dataset", dataset)
    part = right.segmented_control(
        "Look at",
        ["Text in the pixels", "Questions and reports"],
        default="Text in the pixels",
        key=f"patient-part-{dataset}",
    )
    if part == "Questions and reports":
        texts_part(dataset, person)
    else:
        pixels_part(dataset, person)


main()
