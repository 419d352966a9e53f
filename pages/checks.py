"""Checks: which checks run on a dataset, the problems that they reported, and the questions with problems."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.people import Action
from quality.service import list_datasets, load_check_report
from ui.context import read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.juries.section import show_juries
from ui.problems.examples import show_check
from ui.problems.measurement import show_measurements
from ui.problems.overview import show_check_table, show_overview
from ui.problems.run import show_run
from ui.problems.settings import show_settings
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a second click cannot interrupt the first."""
    person = require_page(Action.SEE_CHECKS)
    st.title("Checks")
    with read_only_session() as db:
        datasets = list_datasets(db, by=person)
    if not datasets:
        show_empty_state(
            "No dataset yet",
            "Questions are checked when they are imported.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    dataset_names = [dataset.name for dataset in datasets]
    chosen_name = choose_dataset(person, dataset_names, key="dataset-to-check")
    dataset = datasets[dataset_names.index(chosen_name)]
    with read_only_session() as db:
        check_report = load_check_report(db, by=person, dataset=dataset.name)
    show_overview(check_report)
    show_run(check_report, dataset, person)
    show_check_table(check_report)
    show_settings(check_report, dataset)
    show_juries(dataset, person)
    show_measurements(dataset, person)
    lines_with_problems = [line for line in check_report.lines if line.with_problem]
    if not lines_with_problems:
        if check_report.is_complete:
            st.success("No problems found.")
        else:
            st.info("No problems so far. Run the checks to include all questions and all active checks.")
        return
    address = urlencode({"dataset": dataset.name})
    st.markdown(f"[All problems as CSV](/files/problems.csv?{address})")
    for tab, line in zip(
        st.tabs([f"{line.check.label} ({line.with_problem:,})" for line in lines_with_problems]),
        lines_with_problems,
        strict=True,
    ):
        with tab:
            show_check(check_report, dataset, line.check, person)


main()
