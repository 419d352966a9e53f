"""Model runs: the progress of one run, its costs, and the buttons that start, pause and cancel it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from domain.count_texts import count_text, duration_text
from domain.language_models import RequestStatus, RunProgress, RunStatus, format_cost
from language_models import service as models
from ui.background_jobs import job_control
from ui.background_jobs.live_progress import show_action_button, show_live_progress
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.layout import show_metrics
from ui.tables import show_table
from ui.widgets import escape_markdown


def show_run(name: str) -> None:
    """Show a run. While it is in progress, the figures refresh by themselves."""
    show_live_progress(partial(_load_progress, name), _show_progress, _is_active, notice_key=f"run-{name}")


def _is_active(progress: RunProgress) -> bool:
    return progress.state == "in progress" or is_queued(progress.run.name)


def _show_progress(progress: RunProgress, *, is_active: bool) -> None:
    run = progress.run
    text = f"{progress.ended:,} of {count_text(run.requests, 'request')} · {describe_state(progress)}"
    if progress.seconds_left is not None and not progress.is_finished:
        text += f" · about {duration_text(progress.seconds_left)} left"
    st.progress(progress.ended / run.requests, text=text)
    if run.reason and not progress.is_finished:
        st.warning(escape_markdown(run.reason))
    expected_cost = progress.expected_cost_nanos
    unpriced = f"{count_text(run.unpriced_calls, 'call')} without a known price is not included."
    show_metrics(
        ("Cost so far", format_cost(run.cost_nanos), unpriced if run.unpriced_calls else ""),
        (
            "Expected cost",
            "unknown" if expected_cost is None else format_cost(expected_cost),
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
    _show_buttons(progress, is_active=is_active)
    if progress.failures:
        st.markdown("**Requests without a usable reply**")
        show_table([{"Reason": kind.value, "Requests": count} for kind, count in progress.failures.items()])


def _show_buttons(progress: RunProgress, *, is_active: bool) -> None:
    run = progress.run
    if run.status is RunStatus.CANCELLED:
        return
    notice_key = f"run-{run.name}"
    failed_count = progress.count(RequestStatus.FAILED)
    with st.container(horizontal=True):
        if is_active and run.status is RunStatus.OPEN:
            show_action_button(
                "Pause", _pause_run, run.name, notice_key=notice_key, help_text="Calls under way are stored."
            )
        elif not progress.is_finished:
            label = "Resume" if progress.ended else "Start"
            show_action_button(label, _start_run, run.name, notice_key=notice_key, is_primary=True)
        if failed_count and not is_active:
            show_action_button(
                "Call failed requests again", _retry_failed_requests, run.name, notice_key=notice_key
            )
        if not progress.is_finished:
            show_action_button(
                "Cancel run",
                _cancel_run,
                run.name,
                notice_key=notice_key,
                help_text="This cannot be undone. Replies so far are kept.",
            )


def _load_progress(name: str) -> RunProgress:
    with read_only_session() as db:
        return models.load_progress(db, by=current_person(), name=name, now=clock())


def is_queued(name: str) -> bool:
    """Whether a job of the app for the run is queued or running."""
    return job_control.is_active(models.MODEL_RUN, by=current_person(), subject=f"run {name}")


def describe_state(progress: RunProgress) -> str:
    """Return the state of a run in one or two words; "starting" between its start and its first calls."""
    is_starting = progress.state == "not running" and is_queued(progress.run.name)
    return "starting" if is_starting else progress.state


def _start_run(name: str) -> None:
    _resume_run(name, retry_failed=False)


def _retry_failed_requests(name: str) -> None:
    _resume_run(name, retry_failed=True)


def _resume_run(name: str, *, retry_failed: bool) -> None:
    person = current_person()
    with unit_of_work() as db:
        models.resume_run(db, by=person, name=name, retry_failed=retry_failed, now=clock())
    job_control.start_job(models.MODEL_RUN, models.RunParameters(name=name), by=person, subject=f"run {name}")


def _pause_run(name: str) -> None:
    with unit_of_work() as db:
        models.pause_run(db, by=current_person(), name=name)


def _cancel_run(name: str) -> str:
    with unit_of_work() as db:
        models.cancel_run(db, by=current_person(), name=name, now=clock())
    return f"Cancelled {name}."
