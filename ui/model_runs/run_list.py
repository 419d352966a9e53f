"""Model runs: the list of all runs, which is refreshed while one of them is in progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import streamlit as st

from domain.errors import DomainError
from domain.language_models import RunProgress, format_cost
from language_models import service as models
from ui.context import clock, current_person, read_only_session
from ui.model_runs.progress import describe_state, is_queued
from ui.tables import show_table
from ui.widgets import escape_markdown

#: Longer than for one run, because the requests of all runs are counted.
_POLL_INTERVAL = timedelta(seconds=5)


def show_run_list(runs: Sequence[RunProgress]) -> None:
    """Show one row per run. While a run is in progress, the table refreshes by itself."""
    if any(_is_active(progress) for progress in runs):
        _poll_list()
    else:
        _show_runs(runs)


@st.fragment(run_every=_POLL_INTERVAL)  # allow plain-fragment: shows database errors itself
def _poll_list() -> None:
    try:
        with read_only_session() as db:
            runs = models.list_runs(db, by=current_person(), now=clock())
    except DomainError as error:
        st.caption(escape_markdown(str(error)))
        return
    _show_runs(runs)
    if not any(_is_active(progress) for progress in runs):
        st.rerun()


def _is_active(progress: RunProgress) -> bool:
    is_unfinished = not progress.is_finished
    return is_unfinished and (progress.state == "in progress" or is_queued(progress.run.name))


def _show_runs(runs: Sequence[RunProgress]) -> None:
    show_table([_build_run_row(progress) for progress in runs], visible_rows=8)


def _build_run_row(progress: RunProgress) -> dict[str, object]:
    run = progress.run
    return {
        "Run": run.name,
        "State": describe_state(progress),
        "Ended": progress.ended,
        "Requests": run.requests,
        "Failed": sum(progress.failures.values()),
        "Endpoint": run.endpoint.marked_name,
        "Cost": format_cost(run.cost_nanos),
        "Created": f"{run.created_at:%Y-%m-%d %H:%M} UTC",
    }
