"""Shows the progress and the outcome of a job, next to the button that started it."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError
from domain.jobs import Job, JobStatus
from ui.background_jobs import job_control
from ui.context import clock, format_clock_time
from ui.widgets import escape_markdown, run_action, show_notice

_POLL_INTERVAL = timedelta(seconds=0.7)


def show_job_progress(job: Job | None) -> bool:
    """Show the progress of a job if the job is active.

    Returns:
        Whether the job is active. If not, the caller shows the button that starts a job.
    """
    if job is None or not job.is_active:
        return False
    _poll_job(job.number)
    return True


def show_job_outcome(job: Job | None) -> None:
    """Show the outcome of a finished job until it is dismissed.

    Call this below the start button, so that the button does not move while it is clicked.
    """
    if job is None or job.finished_at is None:
        return
    show_job_message(job)
    if not job.message and job.status is JobStatus.DONE:
        return
    ended_column, dismiss_column, retry_column = st.columns([2, 1, 1], vertical_alignment="center")
    ended_column.caption(f"Finished at {format_clock_time(job.finished_at)}")
    notice_key = f"job-{job.number}"
    if job.status is JobStatus.INTERRUPTED:
        _show_button(retry_column, "Run again", job_control.restart_job, job, notice_key)
    _show_button(dismiss_column, "Dismiss", job_control.dismiss_job, job, notice_key)
    show_notice(notice_key)


def show_job_message(job: Job) -> None:
    """Show the message of a finished job in the colour of its status."""
    match job.status:
        case JobStatus.DONE if job.message:
            st.success(escape_markdown(job.message))
        case JobStatus.FAILED:
            st.error(escape_markdown(job.message))
        case JobStatus.INTERRUPTED:
            st.warning(escape_markdown(job.message))
        case JobStatus.CANCELLED:
            st.info("Cancelled.")


def _show_button(
    column: st.delta_generator.DeltaGenerator, label: str, action: object, job: Job, notice_key: str
) -> None:
    column.button(
        label,
        key=f"{label}-{job.number}",
        on_click=run_action,
        args=(action, job.number),
        kwargs={"notice_key": notice_key},
        type="tertiary",
    )


@st.fragment(run_every=_POLL_INTERVAL)  # allow plain-fragment: shows database errors itself
def _poll_job(number: int) -> None:
    try:
        job = job_control.reload_job(number)
    except DomainError as error:
        st.caption(escape_markdown(str(error)))
        return
    if not job.is_active:
        st.rerun()  # reruns the whole page, which now shows the outcome
    notice_key = f"job-{number}"
    text = job.progress.text
    if job.status is JobStatus.QUEUED:
        text = "Waiting for another job to finish"
    elif job_control.is_unresponsive(job):
        text = "The server was restarted. The job resumes within 30 seconds."
    bar_column, cancel_column = st.columns([5, 1], vertical_alignment="bottom")
    bar_column.progress(job.progress.share, text=escape_markdown(text))
    if job.cancel_requested:
        cancel_column.caption("Cancelling …")
    else:
        _show_button(cancel_column, "Cancel", job_control.cancel_job, job, notice_key)
    st.caption(" · ".join([*_describe_rate(job), "The job continues if you close this page."]))
    show_notice(notice_key)


def _describe_rate(job: Job) -> list[str]:
    """Return texts for the units per second and the remaining time; an unknown value is omitted."""
    now = clock()
    rate, seconds_left = job.units_per_second(now), job.seconds_left(now)
    parts = (
        [f"{rate:,.0f} {job.progress.unit} per second"] if rate and rate >= 1 and job.progress.unit else []
    )
    if seconds_left is not None and seconds_left >= 1:
        parts.append(f"about {_format_duration(seconds_left)} left")
    return parts


def _format_duration(seconds: float) -> str:
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size:
            return count_text(round(seconds / size), unit)
    return count_text(max(1, round(seconds)), "second")
