"""A prompt bench for the coordinator: the runs of its versions, and the experts with their progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

import streamlit as st

from accounts.service import list_people_with_role
from domain.access import ROLES_BY_ACTION, Action
from domain.count_texts import count_text
from domain.errors import DomainError
from domain.language_models import RunProgress, RunStatus, format_cost
from domain.prompt_bench import BenchExpert
from language_models import service as models
from language_models.bench_sheet import BenchOverview
from ui import state
from ui.background_jobs import job_control
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.model_runs.progress import is_queued
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

_POLL_INTERVAL = timedelta(seconds=2)
_RUNS_NOTICE, _EXPERTS_NOTICE = "bench-runs", "bench-experts"


def show_runs(overview: BenchOverview) -> None:
    """Show the bench and the progress of its runs. While a run is in progress, the table refreshes."""
    show_notice("new-bench")
    bench = overview.bench
    st.caption(
        escape_markdown(
            f"{count_text(bench.reports, 'report')} of {bench.dataset} · seed {bench.seed} · created "
            f"{bench.created_at:%Y-%m-%d %H:%M} UTC"
        )
    )
    if any(_is_active(run) for run in overview.runs):
        _poll_runs(bench.name)
    else:
        _show_run_table(overview)
    show_notice(_RUNS_NOTICE)


@st.fragment(run_every=_POLL_INTERVAL)  # allow plain-fragment: shows database errors itself
def _poll_runs(name: str) -> None:
    try:
        with read_only_session() as db:
            overview = models.load_bench(db, by=current_person(), name=name, now=clock())
    except DomainError as error:
        st.caption(escape_markdown(str(error)))
        return
    if not any(_is_active(run) for run in overview.runs):
        st.rerun()
    _show_run_table(overview)


def _show_run_table(overview: BenchOverview) -> None:
    show_table(
        [
            _build_run_row(version.label, run)
            for version, run in zip(overview.bench.versions, overview.runs, strict=True)
        ]
    )
    open_runs = [
        run.run.name
        for run in overview.runs
        if not run.is_finished and run.run.status is not RunStatus.CANCELLED and not _is_active(run)
    ]
    if open_runs:
        st.button(
            "Resume" if any(run.ended for run in overview.runs) else "Start",
            key=f"bench-start-{overview.bench.id}-{len(open_runs)}",
            type="primary",
            help="Sends the requests of all versions. The page Model runs shows each run.",
            on_click=run_action,
            args=(_start_runs, tuple(open_runs)),
            kwargs={"notice_key": _RUNS_NOTICE},
        )


def _is_active(progress: RunProgress) -> bool:
    return progress.state == "in progress" or is_queued(progress.run.name)


def _build_run_row(label: str, progress: RunProgress) -> dict[str, object]:
    run = progress.run
    return {
        "Version": label,
        "State": progress.state,
        "Ended": progress.ended,
        "Requests": run.requests,
        "Without usable reply": sum(progress.failures.values()),
        "Endpoint": run.endpoint.marked_name,
        "Cost": format_cost(run.cost_nanos),
        "Note": "" if progress.is_finished else run.reason,
    }


def show_experts(overview: BenchOverview) -> None:
    """Show the choice of experts, and how many scores each has given."""
    choose_experts(
        overview.experts,
        key=f"experts-{overview.bench.id}",
        label="Scored by",
        help_text="Each expert scores all outputs, without seeing the version of the prompt.",
        on_click=run_action,
        args=(_assign_experts, overview.bench.name),
        notice_key=_EXPERTS_NOTICE,
    )
    if overview.experts:
        show_table(
            [
                {
                    "Expert": expert.display_name,
                    "Scores": overview.done.get(expert.person_id, 0),
                    "Of": overview.total,
                }
                for expert in overview.experts
            ]
        )


def choose_experts(
    experts: Sequence[BenchExpert],
    *,
    key: str,
    label: str,
    help_text: str,
    on_click: Callable[..., None],
    args: tuple[object, ...],
    notice_key: str,
) -> None:
    """Show the choice of the people who score outputs.

    Args:
        experts: the people who are chosen at present.
        key: the beginning of the keys of the widgets.
        label: the label of the choice.
        help_text: the help of the choice.
        on_click: `ui.widgets.run_action`.
        args: the action that saves the choice, and its arguments. The key of the widget is added.
        notice_key: the key of the notice that shows the outcome.
    """
    st.subheader("Experts")
    with read_only_session() as db:
        candidates = {
            candidate.name: candidate.display_name
            for role in ROLES_BY_ACTION[Action.SCORE_OUTPUTS]
            for candidate in list_people_with_role(db, role=role)
        }
    candidates |= {expert.name: expert.display_name for expert in experts}
    current_names = [expert.name for expert in experts]
    widget_key = f"{key}-{'-'.join(current_names)}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.multiselect(
            label,
            list(candidates),
            default=current_names,
            key=widget_key,
            format_func=lambda name: f"{candidates[name]} ({name})",
            help=help_text,
        )
        st.button(
            "Save experts",
            key=f"{widget_key}-save",
            on_click=on_click,
            args=(*args, widget_key),
            kwargs={"notice_key": notice_key},
        )
    show_notice(notice_key)


def _start_runs(names: tuple[str, ...]) -> None:
    person = current_person()
    with unit_of_work() as db:
        for name in names:
            models.resume_run(db, by=person, name=name, now=clock())
    for name in names:
        job_control.start_job(
            models.MODEL_RUN, models.RunParameters(name=name), by=person, subject=f"run {name}"
        )


def _assign_experts(bench: str, key: str) -> str:
    chosen_names = state.get_widget_value(key)
    with unit_of_work() as db:
        experts = models.assign_experts(
            db,
            by=current_person(),
            bench=bench,
            to=[str(name) for name in chosen_names] if isinstance(chosen_names, list) else [],
            now=clock(),
        )
    names = ", ".join(expert.display_name for expert in experts) or "nobody"
    return f"Scored by {names}."
