"""Shows the progress and the outcome of an import, on the page Import."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.jobs import Job, JobStatus
from domain.people import Person
from ui.background_jobs import job_control
from ui.background_jobs.job_status import show_job_message, show_job_progress
from ui.imports import import_job
from ui.imports.deliveries import discard
from ui.refusals import show_refusals
from ui.widgets import escape_markdown, run_action, show_notice


def show_import_progress(job: Job) -> None:
    """Show the progress of an import."""
    st.subheader(f"Importing {escape_markdown(import_job.decode_request(job).delivery.name)}")
    show_job_progress(job)
    st.caption("Nothing appears until the import finishes.")


def show_import_outcome(job: Job, person: Person) -> None:
    """Show the outcome of an import and the next steps."""
    request, details = import_job.decode_request(job), import_job.decode_outcome(job)
    show_job_message(job)
    if details is not None and job.status is JobStatus.DONE:
        counts = [f"{check} {count:,}" for check, count in details.problems.items()]
        st.markdown(f"Structural checks found: {escape_markdown(', '.join(counts) or 'no problems')}.")
    if details is not None and details.refused:
        _show_refused_records(details)
    other_column, rerun_column, _ = st.columns([1, 1.4, 2])
    other_column.button(
        "Import another file",
        key=f"another-{job.number}",
        on_click=run_action,
        args=(_discard_import, job),
        kwargs={"notice_key": "import-run"},
        type="primary" if job.status is JobStatus.DONE else "secondary",
        width="stretch",
    )
    has_refused_records = details is not None and any(refusal.record for refusal in details.refusals)
    if job.status is JobStatus.FAILED and has_refused_records:
        rerun_column.button(
            "Import without invalid records",
            key=f"rest-{job.number}",
            on_click=run_action,
            args=(_import_valid_records, request, person),
            kwargs={"notice_key": "import-run"},
            width="stretch",
        )
    elif job.status is not JobStatus.DONE:
        rerun_column.button(
            "Run again",
            key=f"again-{job.number}",
            on_click=run_action,
            args=(job_control.restart_job, job.number),
            kwargs={"notice_key": "import-run"},
            width="stretch",
        )
    show_notice("import-run")


def _import_valid_records(request: import_job.ImportRequest, person: Person) -> None:
    import_job.start_import(replace(request, skip_bad=True), person)


def _discard_import(job: Job) -> None:
    discard(import_job.decode_request(job).delivery)
    job_control.dismiss_job(job.number)


def _show_refused_records(details: import_job.ImportOutcome) -> None:
    show_refusals(details.refusals, total=details.refused)
    if details.refusals_file is not None:
        # This route checks the sign-in. Streamlit's media store would serve the file to anybody.
        st.markdown(f"[Download all as CSV](/files/refusals/{details.refusals_file})")
