"""Import: upload a question file with its images, preview the result, and import it."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from quality.service import list_datasets
from ui import state
from ui.context import reading, require_page
from ui.imports import runs
from ui.imports.deliveries import Delivery
from ui.imports.handing_in import hand_in
from ui.imports.looking import look_through
from ui.imports.outcome import outcome, watch
from ui.navigation import ROOT
from ui.parts import empty_state, screen
from ui.tables import table


@screen
def main() -> None:
    """The running import, its result, or the next file. One fragment, so that a click cannot interrupt it."""
    person = require_page(Action.IMPORT_QUESTIONS)
    st.title("Import")
    job = runs.own_latest(person)
    delivery = state.chosen("delivery")
    if job is not None and job.is_active:
        watch(job)
        return
    if job is not None:
        outcome(job, person)
    elif isinstance(delivery, Delivery):
        look_through(delivery, person)
    else:
        hand_in(person)
    _datasets(person)


def _datasets(person: Person) -> None:
    with reading() as db:
        found = list_datasets(db, by=person)
    st.subheader("Datasets")
    if not found:
        empty_state("No dataset yet", "The first import makes one.")
        return
    table(
        [
            {
                "Dataset": each.name,
                "Questions": each.questions,
                "Exams": each.exams,
                "Images": each.images,
                "Problems": each.problems,
            }
            for each in found
        ]
    )
    st.page_link(ROOT / "pages/checks.py", label="See what the checks found", icon=":material/rule:")


main()
