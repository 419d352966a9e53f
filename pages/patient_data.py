"""Patient data: rules for image files, and passages and pixels that may identify a patient."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from privacy.service import load_rules
from quality.service import list_datasets
from ui.context import read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.patients.data_use import show_data_use_form
from ui.patients.image_grid import show_pixel_check
from ui.patients.rules import show_rules_form
from ui.patients.text_hits import show_text_hits
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a second click cannot interrupt the first."""
    person = require_page(Action.PROTECT_PATIENTS)
    st.title("Patient data")
    with read_only_session() as db:
        current_rules = load_rules(db, by=person)
        datasets = [summary.name for summary in list_datasets(db, by=person)]
    with st.expander("Storage of image files", expanded=not datasets):
        show_rules_form(current_rules, person)
    if not datasets:
        show_empty_state(
            "No dataset yet",
            "Import questions and images to search them for patient data.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    left, right = st.columns([1, 1], vertical_alignment="bottom")
    dataset = choose_dataset(person, datasets, key="dataset-of-patients", container=left)
    view = right.segmented_control(
        "Search in",
        ["Burned-in text", "Questions and reports"],
        default="Burned-in text",
        key=f"patient-part-{dataset}",
    )
    with st.expander("Use by language models"):
        show_data_use_form(dataset, person)
    if view == "Questions and reports":
        show_text_hits(dataset, person)
    else:
        show_pixel_check(dataset, person)


main()
