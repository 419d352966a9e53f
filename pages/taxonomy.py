"""Taxonomy: map the raw names of categories, content types and regions to controlled names."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from quality.service import list_datasets, load_names
from terminology.taxonomy import NamedField
from ui.context import read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.taxonomy.names import show_all_names, show_change, show_next_name, show_overview
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a second click cannot interrupt the first."""
    person = require_page(Action.IMPORT_QUESTIONS)
    st.title("Taxonomy")
    with read_only_session() as db:
        dataset_names = [dataset.name for dataset in list_datasets(db, by=person)]
    if not dataset_names:
        show_empty_state(
            "No dataset yet",
            "Import questions to map the names of their categories.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    _show_dataset(person, choose_dataset(person, dataset_names, key="dataset-to-map"))


def _show_dataset(person: Person, dataset: str) -> None:
    st.markdown(
        "Categories, content types and regions that mean the same get one controlled name. The raw name in "
        "the file is kept; "
        "statistics, filters, strata and reports can use either."
    )
    field = st.segmented_control(
        "Field",
        list(NamedField),
        default=NamedField.CATEGORY,
        required=True,
        format_func=lambda choice: choice.label,
        key=f"field-{dataset}",
    )
    with read_only_session() as db:
        report = load_names(db, by=person, dataset=dataset, field=NamedField(field))
    if not report.names:
        st.info(f"No question of this dataset has a {report.field.label.lower()}.")
        return
    show_overview(report)
    show_next_name(person, report)
    show_all_names(report)
    show_change(report)


main()
