"""Checks: what the four structural checks reported in a dataset, by check, with the questions."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Action, Person
from domain.problems import Check
from quality.service import (
    CheckReport,
    DatasetSummary,
    find_problems,
    list_datasets,
    load_check_report,
    record_problems,
)
from ui.context import clock, read_only_session, require_page, unit_of_work
from ui.dataset_choice import choose_dataset
from ui.problems.examples import show_check
from ui.widgets import run_action, screen, show_empty_state, show_notice, show_statistic


@screen
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt what it starts."""
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
    _show_overview(check_report)
    _show_rerun_form(dataset, person)
    if not check_report.with_problems:
        st.success("No problems found.")
        return
    names = [check for check in Check if check_report.count_of(check)]
    for tab, check in zip(
        st.tabs([f"{check.title()} ({check_report.count_of(check):,})" for check in names]),
        names,
        strict=True,
    ):
        with tab:
            show_check(check_report, dataset, check, person)


def _show_overview(check_report: CheckReport) -> None:
    columns = st.columns(5)
    with columns[0]:
        show_statistic("With a problem", f"{check_report.with_problems:,}", n=check_report.questions)
    for column, check in zip(columns[1:], Check, strict=True):
        with column:
            show_statistic(check.title(), f"{check_report.count_of(check):,}", n=check_report.questions)


def _show_rerun_form(dataset: DatasetSummary, person: Person) -> None:
    left, right, _ = st.columns([1, 1, 2], vertical_alignment="bottom")
    minimum = left.number_input(
        "Minimum explanation length (characters)",
        min_value=0,
        value=dataset.minimum_explanation,
        key=f"minimum-{dataset.id}-{dataset.minimum_explanation}",
        help="Shorter explanations are reported as a format problem.",
    )
    right.button(
        "Run checks again",
        key=f"check-{dataset.id}",
        on_click=run_action,
        args=(_rerun_checks, dataset.name, int(minimum), person),
        kwargs={"notice_key": "checks"},
        width="stretch",
    )
    show_notice("checks")


def _rerun_checks(dataset: str, minimum: int, person: Person) -> str:
    with read_only_session() as db:
        problems = find_problems(db, by=person, dataset=dataset, minimum_explanation=minimum)
    with unit_of_work() as db:
        record_problems(db, by=person, detected=problems, now=clock())
    with read_only_session() as db:
        check_report = load_check_report(db, by=person, dataset=dataset)
    return (
        f"Checked {count_text(check_report.questions, 'question')}; {check_report.with_problems:,} with"
        " problems."
    )


main()
