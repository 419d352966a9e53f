"""Model runs: the progress of one run, its costs, and the buttons that start, pause and cancel it."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from domain.count_texts import count_text, duration_text
from domain.errors import DomainError
from domain.jobs import JobStatus
from domain.language_models import RequestStatus, RunProgress, RunStatus, format_cost
from language_models import service as models
from ui.background_jobs import job_control
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.layout import show_metrics
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

_POLL_INTERVAL = timedelta(seconds=2)


def show_run(name: str) -> None:
    """Draw a run. While it is in progress, the figures are refreshed by themselves."""
    progress = _load(name)
    if progress.state == "in progress" or is_queued(name):
        _poll_run(name)
    else:
        _draw(progress)
    show_notice(f"run-{name}")


@st.fragment(
    run_every=_POLL_INTERVAL
)  # allow fragment-without-screen: shows itself that the database is away
def _poll_run(name: str) -> None:
    try:
        progress = _load(name)
    except DomainError as error:
        st.caption(escape_markdown(str(error)))
        return
    if progress.state != "in progress" and not is_queued(name):
        st.rerun()
    _draw(progress)


def _draw(progress: RunProgress) -> None:
    run = progress.run
    text = f"{progress.ended:,} of {count_text(run.requests, 'request')} · {progress.state}"
    if progress.seconds_left is not None and not progress.is_finished:
        text += f" · about {duration_text(progress.seconds_left)} left"
    st.progress(progress.ended / run.requests, text=text)
    if run.reason and not progress.is_finished:
        st.warning(escape_markdown(run.reason))
    expected = progress.expected_cost_nanos
    unpriced = f"{count_text(run.unpriced_calls, 'call')} without a known price is not included."
    show_metrics(
        ("Cost so far", format_cost(run.cost_nanos), unpriced if run.unpriced_calls else ""),
        (
            "Expected cost",
            "unknown" if expected is None else format_cost(expected),
            "Of all requests, from the calls so far.",
        ),
        ("Calls", f"{run.calls:,}", "Includes replies that failed validation and their corrections."),
        ("Tokens", f"{run.prompt_tokens + run.completion_tokens:,}", "Of all calls: prompts and replies."),
        ("Calls per minute", f"{progress.calls_per_minute:,}", "In the last minute, by all processes."),
        (
            "From the ledger",
            f"{progress.reused:,}",
            "Requests answered by an earlier call, without a new one.",
        ),
    )
    _draw_buttons(progress)
    if progress.failures:
        st.markdown("**Requests without a usable reply**")
        show_table([{"Reason": kind.value, "Requests": count} for kind, count in progress.failures.items()])


def _draw_buttons(progress: RunProgress) -> None:
    run = progress.run
    if run.status is RunStatus.CANCELLED:
        return
    is_active = progress.state == "in progress" or is_queued(run.name)
    failed = progress.count(RequestStatus.FAILED)
    with st.container(horizontal=True):
        if is_active and run.status is RunStatus.OPEN:
            _button("Pause", _pause, run.name, help_text="Calls under way are stored.")
        elif not progress.is_finished:
            label = "Resume" if progress.ended else "Start"
            _button(label, _start, run.name, is_primary=True)
        if failed and not is_active:
            _button("Call failed requests again", _retry, run.name)
        if not progress.is_finished:
            _button("Cancel run", _cancel, run.name, help_text="For good. Replies so far stay.")


def _button(
    label: str, action: object, name: str, *, is_primary: bool = False, help_text: str | None = None
) -> None:
    st.button(
        label,
        key=f"{label}-{name}",
        type="primary" if is_primary else "secondary",
        help=help_text,
        on_click=run_action,
        args=(action, name),
        kwargs={"notice_key": f"run-{name}"},
    )


def _load(name: str) -> RunProgress:
    with read_only_session() as db:
        return models.load_progress(db, by=current_person(), name=name, now=clock())


def is_queued(name: str) -> bool:
    """Whether a job of the app works on the run, or is about to."""
    job = job_control.load_latest_job(models.MODEL_RUN, by=current_person(), subject=f"run {name}")
    return job is not None and job.status in (JobStatus.QUEUED, JobStatus.RUNNING)


def _start(name: str) -> None:
    _open(name, retry_failed=False)


def _retry(name: str) -> None:
    _open(name, retry_failed=True)


def _open(name: str, *, retry_failed: bool) -> None:
    person = current_person()
    with unit_of_work() as db:
        models.open_run(db, by=person, name=name, retry_failed=retry_failed, now=clock())
    job_control.start_job(models.MODEL_RUN, models.RunParameters(name=name), by=person, subject=f"run {name}")


def _pause(name: str) -> None:
    with unit_of_work() as db:
        models.pause_run(db, by=current_person(), name=name)


def _cancel(name: str) -> str:
    with unit_of_work() as db:
        models.cancel_run(db, by=current_person(), name=name, now=clock())
    return f"Cancelled {name}."
