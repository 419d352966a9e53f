"""Model runs: requests to language models, with progress, costs, failures and single calls."""

from __future__ import annotations

import streamlit as st

from domain.language_models import TEST_MODEL_NOTE
from domain.people import Action
from language_models import service as models
from ui.context import clock, read_only_session, require_page
from ui.model_runs.progress import show_run
from ui.model_runs.requests import show_requests
from ui.model_runs.run_list import show_run_list
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a second click cannot interrupt the first."""
    person = require_page(Action.RUN_MODELS)
    st.title("Model runs")
    with read_only_session() as db:
        runs = models.list_runs(db, by=person, now=clock())
    if not runs:
        show_empty_state(
            "No run yet",
            "A run is a set of requests to a language model. Ask an admin to add an endpoint. Then generate "
            "questions, plan an evaluation, or use cli.py run create.",
        )
        return
    show_run_list(runs)
    names = [progress.run.name for progress in runs]
    requested_name = st.query_params.get("run")
    index = names.index(requested_name) if requested_name in names else 0
    name = st.selectbox("Run", names, index=index, key=f"run-of-{len(runs)}", width=420)
    run = next(progress.run for progress in runs if progress.run.name == name)
    st.caption(
        f"{run.endpoint.model} · {run.endpoint.data_use.value} · dataset: {run.dataset or 'none'}"
        f"{f' · prompt {run.prompt}' if run.prompt else ''}"
        f"{f' · {TEST_MODEL_NOTE}' if run.endpoint.is_test_model else ''}"
    )
    show_run(name)
    custom_id = st.query_params.get("request") if name == requested_name else None
    show_requests(name, run.requests, person, custom_id=custom_id)


main()
