"""Checks: what the four structural checks reported in a dataset, by check, with the questions."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from domain.problems import Check
from quality.service import CheckReport, DatasetSummary, find_problems, list_datasets, record_problems, report
from ui import state
from ui.context import clock, reading, require_page, unit_of_work
from ui.parts import act, empty_state, notices, screen, stat
from ui.problems.examples import of_check


@screen
def main() -> None:
    """The page in one fragment, so that a click cannot interrupt what it starts."""
    person = require_page(Action.SEE_CHECKS)
    st.title("Checks")
    with reading() as db:
        datasets = list_datasets(db, by=person)
    if not datasets:
        empty_state(
            "No dataset yet",
            "Questions are checked when they are imported.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    chosen = _choose(datasets)
    with reading() as db:
        found = report(db, by=person, dataset=chosen.name)
    _overview(found)
    _again(chosen, person)
    if not found.with_problems:
        st.success("No check found anything.")
        return
    names = [check for check in Check if found.of(check)]
    for tab, check in zip(
        st.tabs([f"{check.title()} ({found.of(check):,})" for check in names]), names, strict=True
    ):
        with tab:
            of_check(found, chosen, check, person)


def _choose(datasets: list[DatasetSummary]) -> DatasetSummary:
    names = [each.name for each in datasets]
    before = state.chosen("dataset")
    name = st.selectbox(
        "Dataset",
        names,
        index=names.index(before) if before in names else 0,
        key="dataset-to-check",  # allow fixed-widget-key: the widget selects the dataset
    )
    state.set_chosen("dataset", name)
    return datasets[names.index(name)]


def _overview(found: CheckReport) -> None:
    columns = st.columns(5)
    with columns[0]:
        stat("With a problem", f"{found.with_problems:,}", n=found.questions)
    for column, check in zip(columns[1:], Check, strict=True):
        with column:
            stat(check.title(), f"{found.of(check):,}", n=found.questions)


def _again(chosen: DatasetSummary, person: Person) -> None:
    left, right, _ = st.columns([1, 1, 2], vertical_alignment="bottom")
    minimum = left.number_input(
        "Shortest explanation, in characters",
        min_value=0,
        value=chosen.minimum_explanation,
        key=f"minimum-{chosen.id}-{chosen.minimum_explanation}",
        help="Shorter ones are a problem of format.",
    )
    right.button(
        "Check again",
        key=f"check-{chosen.id}",
        on_click=act,
        args=(_check_again, chosen.name, int(minimum), person),
        kwargs={"place": "checks"},
        width="stretch",
    )
    notices("checks")


def _check_again(dataset: str, minimum: int, person: Person) -> str:
    with reading() as db:
        checked = find_problems(db, by=person, dataset=dataset, minimum_explanation=minimum)
    with unit_of_work() as db:
        record_problems(db, by=person, found=checked, now=clock())
    with reading() as db:
        found = report(db, by=person, dataset=dataset)
    return f"Checked {found.questions:,} questions; {found.with_problems:,} have a problem."


main()
