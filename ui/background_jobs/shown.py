"""A job on a page, next to the button that started it: its progress, then its outcome."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from domain.errors import DomainError
from domain.jobs import Job, JobStatus
from ui.background_jobs import running
from ui.context import clock, clock_time
from ui.parts import act, notices, plain

_POLL = timedelta(seconds=0.7)


def show_progress(job: Job | None) -> bool:
    """Draw the progress of a job and return True if it is active; else return False.

    If it is not active, the caller draws its start button.
    """
    if job is None or not job.is_active:
        return False
    _watch(job.number)
    return True


def show_outcome(job: Job | None) -> None:
    """Draw the outcome of a finished job until it is dismissed.

    It stands below the start button, so that the button does not move under a click.
    """
    if job is None or job.finished_at is None:
        return
    show_message(job)
    if not job.message and job.status is JobStatus.DONE:
        return
    ended, away, again = st.columns([2, 1, 1], vertical_alignment="center")
    ended.caption(f"Ended at {clock_time(job.finished_at)}")
    place = f"job-{job.number}"
    if job.status is JobStatus.INTERRUPTED:
        _button(again, "Run again", running.start_again, job, place)
    _button(away, "Dismiss", running.dismiss, job, place)
    notices(place)


def show_message(job: Job) -> None:
    """Draw the outcome of a finished job: its message, coloured by status."""
    match job.status:
        case JobStatus.DONE if job.message:
            st.success(plain(job.message))
        case JobStatus.FAILED:
            st.error(plain(job.message))
        case JobStatus.INTERRUPTED:
            st.warning(plain(job.message))
        case JobStatus.CANCELLED:
            st.info("Cancelled.")


def _button(
    column: st.delta_generator.DeltaGenerator, label: str, action: object, job: Job, place: str
) -> None:
    column.button(
        label,
        key=f"{label}-{job.number}",
        on_click=act,
        args=(action, job.number),
        kwargs={"place": place},
        type="tertiary",
    )


@st.fragment(run_every=_POLL)  # allow fragment-without-screen: shows itself that the database is away
def _watch(number: int) -> None:
    try:
        job = running.seen_again(number)
    except DomainError as error:
        st.caption(plain(str(error)))
        return
    if not job.is_active:
        st.rerun()  # the whole page, because it now shows the outcome
    place = f"job-{number}"
    text = job.progress.text
    if job.status is JobStatus.QUEUED:
        text = "Waiting for another one to finish"
    elif running.is_silent(job):
        text = "The server was restarted. This continues within half a minute."
    bar, stop = st.columns([5, 1], vertical_alignment="bottom")
    bar.progress(job.progress.share, text=plain(text))
    if job.cancel_requested:
        stop.caption("Cancelling …")
    else:
        _button(stop, "Cancel", running.cancel, job, place)
    st.caption(" · ".join([*_rate(job), "It continues when this page is closed."]))
    notices(place)


def _rate(job: Job) -> list[str]:
    """Return units per second and the remaining time, as far as they are known."""
    now = clock()
    rate, left = job.units_per_second(now), job.seconds_left(now)
    shown = [f"{rate:,.0f} {job.progress.unit} a second"] if rate and rate >= 1 and job.progress.unit else []
    if left is not None and left >= 1:
        shown.append(f"about {_duration(left)} left")
    return shown


def _duration(seconds: float) -> str:
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= 1.5 * size:
            return f"{round(seconds / size):,} {unit}s"
    return f"{max(1, round(seconds))} second{'' if round(seconds) <= 1 else 's'}"
