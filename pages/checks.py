"""Checks: which checks run on a dataset, what they reported, and the questions behind the counts."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.checks import CHECKS, Check, CheckGroup
from domain.count_texts import count_text
from domain.people import Action, Person
from quality.service import (
    CheckLine,
    CheckReport,
    DatasetSummary,
    list_datasets,
    load_check_report,
    set_minimum_explanation,
    switch_check,
)
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import clock, current_person, read_only_session, require_page, unit_of_work
from ui.dataset_choice import choose_dataset
from ui.problems.check_job import load_latest_checks, start_checks
from ui.problems.examples import show_check
from ui.problems.measurement import show_measurements
from ui.tables import show_table
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
    _show_run(check_report, dataset, person)
    show_table([_build_row(line) for line in check_report.lines])
    _show_settings(check_report, dataset)
    show_measurements(dataset, person)
    lines_with_problems = [line for line in check_report.lines if line.with_problem]
    if not lines_with_problems:
        st.success("No problems found." if check_report.is_complete else "No problems so far.")
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


def _show_overview(check_report: CheckReport) -> None:
    columns = st.columns(4)
    with columns[0]:
        show_statistic("No problem found", f"{check_report.valid:,}", n=check_report.questions)
    with columns[1]:
        show_statistic("With a problem", f"{check_report.with_problems:,}", n=check_report.questions)
    with columns[2]:
        not_run = max((line.not_run for line in check_report.lines if line.state.is_on), default=0)
        show_statistic("Not checked yet", f"{not_run:,}", n=check_report.questions)
    st.caption("Of the checks that are on and have run.")


def _show_run(check_report: CheckReport, dataset: DatasetSummary, person: Person) -> None:
    job = load_latest_checks(person, dataset.name)
    if not show_job_progress(job):
        st.button(
            "Run checks",
            key=f"check-{dataset.id}",
            type="secondary" if check_report.is_complete else "primary",
            on_click=run_action,
            args=(_start, dataset.name),
            kwargs={"notice_key": "checks"},
            help="Checks the questions that are new since the last run, or all if a setting changed.",
        )
    show_notice("checks")
    show_job_outcome(job)


def _start(dataset: str) -> None:
    start_checks(current_person(), dataset)


def _build_row(line: CheckLine) -> dict[str, object]:
    declaration = line.declaration
    reasons = ", ".join(f"{count:,} ({need.label})" for need, count in line.not_checked.items() if count)
    return {
        "Check": declaration.check.label,
        "Kind": declaration.group.label,
        "On": "on" if line.state.is_on else "off",
        "With a problem": line.with_problem,
        "Passed": line.passed,
        "Not checked": reasons or "0",
        "Not run yet": line.not_run,
        "Severity": declaration.severity.label,
        "Version": declaration.version,
    }


def _show_settings(check_report: CheckReport, dataset: DatasetSummary) -> None:
    with st.expander("Settings"):
        on_now = [line.check for line in check_report.lines if line.state.is_on]
        # The key has the stored values, so that a change by somebody else is shown.
        version = "-".join(check.value for check in on_now)
        columns = st.columns(len(CheckGroup))
        chosen: set[Check] = set()
        for column, group in zip(columns, CheckGroup, strict=True):
            checks = [check for check, declaration in CHECKS.items() if declaration.group is group]
            if checks:
                column.markdown(f"**{group.label}**")
            chosen |= {
                check
                for check in checks
                if column.checkbox(
                    check.label,
                    value=check in on_now,
                    key=f"on-{dataset.id}-{check}-{version}",
                    help=CHECKS[check].description,
                )
            }
        minimum = st.number_input(
            "Minimum explanation length (characters)",
            min_value=0,
            value=dataset.minimum_explanation,
            key=f"minimum-{dataset.id}-{dataset.minimum_explanation}",
            help="Shorter explanations are reported as a format problem.",
            width=300,
        )
        st.button(
            "Save settings",
            key=f"save-{dataset.id}",
            disabled=chosen == set(on_now) and int(minimum) == dataset.minimum_explanation,
            on_click=run_action,
            args=(_save_settings, dataset.name, frozenset(chosen), int(minimum)),
            kwargs={"notice_key": "check-settings"},
        )
        show_notice("check-settings")


def _save_settings(dataset: str, chosen: frozenset[Check], minimum: int) -> str:
    person = current_person()
    with unit_of_work() as db:
        for check in CHECKS:
            switch_check(db, by=person, dataset=dataset, check=check, is_on=check in chosen, now=clock())
        set_minimum_explanation(db, by=person, dataset=dataset, characters=minimum, now=clock())
    with read_only_session() as db:
        check_report = load_check_report(db, by=person, dataset=dataset)
    if check_report.is_complete:
        return "Saved."
    return f"Saved. Run the checks to apply the settings to {count_text(check_report.questions, 'question')}."


main()
