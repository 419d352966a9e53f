"""Juries: the progress of one jury, its costs, and the buttons that start, pause and cancel it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from domain.count_texts import count_text
from domain.language_models import TEST_MODEL_NOTE, RunStatus, format_cost
from quality import service as quality
from quality.service import JudgeProgress, JuryProgress
from ui.background_jobs import job_control
from ui.background_jobs.live_progress import describe_expected_cost, show_action_button, show_live_progress
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.layout import show_metrics
from ui.tables import show_table
from ui.widgets import escape_markdown


def show_jury(jury_id: int) -> None:
    """Show a jury. While it works, the figures refresh by themselves."""
    show_live_progress(
        partial(_load_progress, jury_id),
        _show_progress,
        lambda _: _is_active(jury_id),
        notice_key=f"jury-{jury_id}",
    )


def _show_progress(progress: JuryProgress, *, is_active: bool) -> None:
    jury = progress.jury
    notes = [f"Questions: {jury.questions:,}.", *jury.notes]
    if jury.is_test:
        notes.append(f"Test model: {TEST_MODEL_NOTE}.")
    st.caption(escape_markdown(" ".join(notes)))
    text = f"{progress.ended:,} of {count_text(progress.requests, 'request')}"
    st.progress(
        progress.ended / progress.requests, text=f"{text} · {_describe_state(progress, is_active=is_active)}"
    )
    for reason in dict.fromkeys(_list_pause_reasons(progress)):
        st.warning(escape_markdown(reason))
    unpriced = f"{count_text(progress.unpriced_calls, 'call')} without a known price is not included."
    show_metrics(
        ("Cost so far", format_cost(progress.cost_nanos), unpriced if progress.unpriced_calls else ""),
        (
            "Expected cost",
            describe_expected_cost(progress.cost_nanos, ended=progress.ended, requests=progress.requests),
            "Of all requests, from those that ended.",
        ),
        ("Without a usable reply", f"{progress.failed:,}", "The question is not checked by that judge."),
    )
    show_table([_build_judge_row(judge_progress) for judge_progress in progress.judges])
    _show_buttons(progress, is_active=is_active)


def _describe_state(progress: JuryProgress, *, is_active: bool) -> str:
    if progress.is_finished:
        return "finished"
    if progress.is_cancelled:
        return "cancelled"
    return "in progress" if is_active else "not running"


def _list_pause_reasons(progress: JuryProgress) -> list[str]:
    return [
        run_progress.run.reason
        for run_progress in progress.runs
        if run_progress.run.reason
        and run_progress.run.status is not RunStatus.OPEN
        and not run_progress.is_finished
    ]


def _build_judge_row(judge_progress: JudgeProgress) -> dict[str, object]:
    requests = judge_progress.requests
    return {
        "Check": judge_progress.judge.check.label,
        "Family": judge_progress.judge.family,
        "Model": judge_progress.judge.model,
        "State": requests.state if requests else "no question to judge",
        "Completed": requests.ended if requests else 0,
        "Requests": requests.run.requests if requests else 0,
        "Cost": format_cost(requests.run.cost_nanos) if requests else "",
        "Model run": judge_progress.judge.model_run or "",
    }


def _show_buttons(progress: JuryProgress, *, is_active: bool) -> None:
    if progress.is_cancelled:
        return
    jury_id = progress.jury.id
    notice_key = f"jury-{jury_id}"
    with st.container(horizontal=True):
        if is_active:
            show_action_button(
                "Pause jury",
                _pause_jury,
                jury_id,
                notice_key=notice_key,
                help_text="Calls under way are stored.",
            )
        elif not progress.is_finished:
            label = "Resume jury" if progress.ended else "Start jury"
            show_action_button(label, _start_jury, jury_id, notice_key=notice_key, is_primary=True)
        if progress.failed and not is_active:
            show_action_button(
                "Call failed requests again", _retry_failed_requests, jury_id, notice_key=notice_key
            )
        if not progress.is_finished and not is_active:
            show_action_button(
                "Cancel jury",
                _cancel_jury,
                jury_id,
                notice_key=notice_key,
                help_text="This cannot be undone. Votes so far are kept.",
            )


def _load_progress(jury_id: int) -> JuryProgress:
    with read_only_session() as db:
        return quality.load_jury_progress(db, by=current_person(), jury_id=jury_id, now=clock())


def _is_active(jury_id: int) -> bool:
    """Whether a job for the jury is queued or running."""
    return job_control.is_active(quality.JURY, by=current_person(), subject=f"jury {jury_id}")


def _start_jury(jury_id: int) -> None:
    _open_jury(jury_id, retry_failed=False)


def _retry_failed_requests(jury_id: int) -> None:
    _open_jury(jury_id, retry_failed=True)


def _open_jury(jury_id: int, *, retry_failed: bool) -> None:
    person = current_person()
    with unit_of_work() as db:
        quality.open_jury(db, by=person, jury_id=jury_id, retry_failed=retry_failed, now=clock())
    job_control.start_job(
        quality.JURY, quality.JuryParameters(jury_id=jury_id), by=person, subject=f"jury {jury_id}"
    )


def _pause_jury(jury_id: int) -> None:
    with unit_of_work() as db:
        quality.pause_jury(db, by=current_person(), jury_id=jury_id, now=clock())


def _cancel_jury(jury_id: int) -> str:
    with unit_of_work() as db:
        quality.cancel_jury(db, by=current_person(), jury_id=jury_id, now=clock())
    return f"Cancelled jury {jury_id}."
