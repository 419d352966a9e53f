"""The progress of an import, and its outcome, on the page Import."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.jobs import Job, JobStatus
from domain.people import Person
from ui.background_jobs import running
from ui.background_jobs.shown import show_message, show_progress
from ui.imports import runs
from ui.imports.deliveries import discard
from ui.parts import act, notices, plain
from ui.tables import table


def watch(job: Job) -> None:
    """Draw the import's progress until it ends."""
    st.subheader(f"Importing {plain(runs.request_of(job).delivery.name)}")
    show_progress(job)
    st.caption("Until it is done nothing of it is to be seen.")


def outcome(job: Job, person: Person) -> None:
    """Draw the outcome of an import and the next steps."""
    request, details = runs.request_of(job), runs.outcome_of(job)
    show_message(job)
    if details is not None and job.status is JobStatus.DONE:
        counts = [f"{check} {count:,}" for check, count in details.problems.items()]
        st.markdown(f"Structural checks found: {plain(', '.join(counts) or 'nothing')}.")
    if details is not None and details.refused:
        _refusals(details)
    notices("import-run")
    other, more, _ = st.columns([1, 1.4, 2])
    other.button(
        "Import another file",
        key=f"another-{job.number}",
        on_click=act,
        args=(_dismiss, job),
        kwargs={"place": "import-run"},
        type="primary" if job.status is JobStatus.DONE else "secondary",
        width="stretch",
    )
    refused_records = details is not None and any(refusal.record for refusal in details.refusals)
    if job.status is JobStatus.FAILED and refused_records:
        more.button(
            "Import the rest, without the refused",
            key=f"rest-{job.number}",
            on_click=act,
            args=(runs.start, replace(request, skip_bad=True), person),
            kwargs={"place": "import-run"},
            width="stretch",
        )
    elif job.status is not JobStatus.DONE:
        more.button(
            "Run again",
            key=f"again-{job.number}",
            on_click=act,
            args=(running.start_again, job.number),
            kwargs={"place": "import-run"},
            width="stretch",
        )


def _dismiss(job: Job) -> None:
    discard(runs.request_of(job).delivery)
    running.dismiss(job.number)


def _refusals(details: runs.ImportOutcome) -> None:
    table(
        [
            {"Record": refusal.record, "Field": refusal.field, "Reason": refusal.reason}
            for refusal in details.refusals
        ]
    )
    shown = len(details.refusals)
    more = f"The first {shown:,} of {details.refused:,}. " if details.refused > shown else ""
    if details.refusals_file is not None:
        # A route of our own that checks the sign-in; Streamlit's media store would serve the file to anybody.
        st.markdown(f"{more}[Download all as CSV](/files/refusals/{details.refusals_file})")
