"""Evaluations: the progress of one evaluation, its costs, and the buttons that start and pause it."""

from __future__ import annotations

from functools import partial

import streamlit as st

from domain.count_texts import count_text
from domain.evaluations import AnsweredBy
from domain.language_models import RequestStatus, RunProgress, RunStatus, format_cost
from evaluation import service as evaluations
from evaluation.service import ConditionProgress, EvaluationProgress
from ui.background_jobs import job_control
from ui.background_jobs.live_progress import describe_expected_cost, show_action_button, show_live_progress
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.layout import show_metrics
from ui.tables import show_table
from ui.widgets import escape_markdown


def show_progress(name: str) -> None:
    """Show the progress. While the evaluation runs, the figures refresh by themselves."""
    show_live_progress(
        partial(_load_progress, name),
        _show_progress,
        lambda _: _is_active(name),
        notice_key=f"evaluation-{name}",
    )


def _show_progress(progress: EvaluationProgress, *, is_active: bool) -> None:
    state_text = "finished" if progress.is_finished else "in progress" if is_active else "not running"
    text = f"{progress.ended:,} of {count_text(progress.requests, 'request')} · {state_text}"
    st.progress(progress.ended / progress.requests, text=text)
    for reason in dict.fromkeys(_list_pause_reasons(progress)):
        st.warning(escape_markdown(reason))
    show_metrics(
        ("Cost so far", format_cost(progress.cost_nanos), "Of all conditions."),
        (
            "Expected cost",
            describe_expected_cost(progress.cost_nanos, ended=progress.ended, requests=progress.requests),
            "Of all requests, from the calls so far.",
        ),
        ("Answers", f"{progress.answers:,}", "Stored when a condition ends or pauses."),
    )
    rows = [_build_condition_row(condition_progress) for condition_progress in progress.conditions]
    show_table(
        rows if progress.paraphrases is None else [*rows, _build_paraphrases_row(progress.paraphrases)]
    )
    for condition_progress in progress.conditions:
        for reason, count in condition_progress.run.excluded.items():
            st.caption(
                escape_markdown(
                    f"{condition_progress.run.condition.value.capitalize()}: {count_text(count, 'question')} "
                    f"not asked ({reason})."
                )
            )
    if progress.evaluation.answered_by is AnsweredBy.ENDPOINT:
        _show_buttons(progress, is_active=is_active)


def _show_buttons(progress: EvaluationProgress, *, is_active: bool) -> None:
    name = progress.evaluation.name
    notice_key = f"evaluation-{name}"
    failed_count = sum(
        condition_progress.requests.count(RequestStatus.FAILED)
        for condition_progress in progress.conditions
        if condition_progress.requests
    )
    with st.container(horizontal=True):
        if is_active:
            show_action_button(
                "Pause",
                _pause_evaluation,
                name,
                notice_key=notice_key,
                help_text="Calls under way are stored.",
            )
        elif not progress.is_finished:
            show_action_button(
                "Resume" if progress.ended else "Start",
                _start_evaluation,
                name,
                notice_key=notice_key,
                is_primary=True,
            )
        if failed_count and not is_active:
            show_action_button(
                "Call failed requests again", _retry_failed_requests, name, notice_key=notice_key
            )


def _build_condition_row(condition_progress: ConditionProgress) -> dict[str, object]:
    requests = condition_progress.requests
    return {
        "Condition": condition_progress.run.condition.value,
        "State": _describe_state(condition_progress),
        "Completed": requests.ended if requests else condition_progress.run.predictions,
        "Questions": condition_progress.run.cases,
        "Answers": condition_progress.run.predictions,
        "Failed": sum(requests.failures.values()) if requests else 0,
        "Cost": format_cost(condition_progress.cost_nanos),
        "Model run": condition_progress.run.model_run or "",
    }


def _build_paraphrases_row(requests: RunProgress) -> dict[str, object]:
    return {
        "Condition": "(paraphrases to be written)",
        "State": requests.state,
        "Completed": requests.ended,
        "Questions": requests.run.requests,
        "Answers": None,
        "Failed": sum(requests.failures.values()),
        "Cost": format_cost(requests.run.cost_nanos),
        "Model run": requests.run.name,
    }


def _describe_state(condition_progress: ConditionProgress) -> str:
    if condition_progress.requests is None:
        return "finished" if condition_progress.run.is_finished else "waiting for answers"
    return condition_progress.requests.state


def _list_pause_reasons(progress: EvaluationProgress) -> list[str]:
    return [
        requests.run.reason
        for requests in evaluations.list_request_runs(progress)
        if requests.run.reason and requests.run.status is not RunStatus.OPEN and not requests.is_finished
    ]


def _load_progress(name: str) -> EvaluationProgress:
    with read_only_session() as db:
        return evaluations.load_progress(db, by=current_person(), name=name, now=clock())


def _is_active(name: str) -> bool:
    """Whether a job for the evaluation is queued or running."""
    return job_control.is_active(evaluations.EVALUATION, by=current_person(), subject=f"evaluation {name}")


def _start_evaluation(name: str) -> None:
    _open_evaluation(name, retry_failed=False)


def _retry_failed_requests(name: str) -> None:
    _open_evaluation(name, retry_failed=True)


def _open_evaluation(name: str, *, retry_failed: bool) -> None:
    person = current_person()
    with unit_of_work() as db:
        evaluations.open_evaluation(db, by=person, name=name, retry_failed=retry_failed, now=clock())
    job_control.start_job(
        evaluations.EVALUATION,
        evaluations.EvaluationParameters(name=name),
        by=person,
        subject=f"evaluation {name}",
    )


def _pause_evaluation(name: str) -> None:
    with unit_of_work() as db:
        evaluations.pause_evaluation(db, by=current_person(), name=name, now=clock())
