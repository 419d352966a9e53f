"""Import: upload a question file with its images, preview the result, and import it."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from quality.service import list_datasets
from ui import state
from ui.context import read_only_session, require_page
from ui.imports import import_job
from ui.imports.box_corrections import show_box_corrections
from ui.imports.deliveries import Delivery
from ui.imports.file_selection import show_file_selection
from ui.imports.outcome import show_import_outcome, show_import_progress
from ui.imports.preview import show_preview
from ui.navigation import ROOT
from ui.tables import show_table
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the running import, its result, or the form for the next file, in one fragment."""
    person = require_page(Action.IMPORT_QUESTIONS)
    st.title("Import")
    job = import_job.load_own_latest_import(person)
    delivery = state.get_selection("delivery")
    if job is not None and job.is_active:
        show_import_progress(job)
        return
    if job is not None:
        show_import_outcome(job, person)
    elif isinstance(delivery, Delivery):
        show_preview(delivery, person)
    else:
        show_file_selection(person)
    _show_datasets(person)


def _show_datasets(person: Person) -> None:
    with read_only_session() as db:
        datasets = list_datasets(db, by=person)
    st.subheader("Datasets")
    if not datasets:
        show_empty_state("No dataset yet", "Import a question file to create one.")
        return
    show_table(
        [
            {
                "Dataset": dataset.name,
                "Questions": dataset.questions,
                "Exams": dataset.exams,
                "Images": dataset.images,
                "Problems found by checks": dataset.problems,
            }
            for dataset in datasets
        ]
    )
    st.page_link(ROOT / "pages/checks.py", label="View check results", icon=":material/rule:")
    with st.expander("Add boxes to existing questions"):
        show_box_corrections(person, [dataset.name for dataset in datasets])


main()
