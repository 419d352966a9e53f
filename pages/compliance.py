"""Compliance: patient data, terms of use, answer keys that the text reveals, and a report on biases."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from quality.service import DEFAULT_THRESHOLD, list_datasets
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.compliance.compliance_job import (
    ComplianceRequest,
    load_latest_compliance_job,
    read_report,
    start_compliance,
)
from ui.compliance.report import show_report
from ui.context import current_person, read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.widgets import page_fragment, run_action, show_empty_state, show_notice

_NOTICE = "compliance"


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a second click cannot interrupt the first."""
    person = require_page(Action.IMPORT_QUESTIONS)
    st.title("Compliance")
    with read_only_session() as db:
        dataset_names = [dataset.name for dataset in list_datasets(db, by=person)]
    if not dataset_names:
        show_empty_state(
            "No dataset yet",
            "Import questions to examine them.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    _show_dataset(person, choose_dataset(person, dataset_names, key="dataset-to-examine"))


def _show_dataset(person: Person, dataset: str) -> None:
    job = load_latest_compliance_job(person, dataset)
    report = read_report(job)
    if report is None:
        st.caption(
            "A run looks for patient data in the texts, for language models to which the dataset may not be "
            "sent, and for questions that can be answered without the image. It ends with a report on "
            "imbalance by age, sex and view. No question is changed."
        )
    if not show_job_progress(job):
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        threshold = left.number_input(
            "Text-only probability threshold",
            min_value=0.05,
            max_value=1.0,
            value=DEFAULT_THRESHOLD,
            step=0.05,
            key=f"threshold-{dataset}",
            help="A question is reported if a classifier that does not see the image gives its key at least "
            "this probability.",
        )
        right.button(
            "Run compliance stages",
            key=f"compliance-{dataset}",
            type="secondary" if report else "primary",
            on_click=run_action,
            args=(_start, ComplianceRequest(dataset=dataset, threshold=threshold)),
            kwargs={"notice_key": _NOTICE},
        )
    show_notice(_NOTICE)
    show_job_outcome(job)
    if report is not None:
        show_report(report)


def _start(request: ComplianceRequest) -> None:
    start_compliance(current_person(), request)


main()
