"""Checks: the button that runs the checks, and the progress of the run."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from quality.service import CheckReport, DatasetSummary
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import current_person
from ui.problems.check_job import load_latest_checks, start_checks
from ui.widgets import run_action, show_notice


def show_run(check_report: CheckReport, dataset: DatasetSummary, person: Person) -> None:
    """Show the progress of the run, or the button that starts one, and the outcome of the last run."""
    job = load_latest_checks(person, dataset.name)
    if not show_job_progress(job):
        st.button(
            "Run checks",
            key=f"check-{dataset.id}",
            type="secondary" if check_report.is_complete else "primary",
            on_click=run_action,
            args=(_start_run, dataset.name),
            kwargs={"notice_key": "checks"},
            help="Checks the questions that are new since the last run, or all if a setting changed.",
        )
    show_notice("checks")
    show_job_outcome(job)


def _start_run(dataset: str) -> None:
    start_checks(current_person(), dataset)
