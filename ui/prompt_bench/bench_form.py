"""The form that creates a prompt bench."""

from __future__ import annotations

import secrets

import streamlit as st

from browsing.service import list_browsable_datasets
from domain.people import Person
from language_models import service as models
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import run_action, show_empty_state, show_notice

_NOTICE = "new-bench"


def show_bench_form(person: Person) -> None:
    """Show the form; if prompts, endpoints or datasets are missing, show what to do first."""
    with read_only_session() as db:
        endpoints = [endpoint_state.endpoint for endpoint_state in models.list_endpoints(db, by=person)]
        prompts = [version.label for version in models.list_prompts(db, by=person)]
        datasets = list_browsable_datasets(db, by=person)
    if len(prompts) < 2:
        show_empty_state(
            "No second prompt version yet",
            "Save at least two versions of a prompt. A bench compares them.",
            page="pages/prompts.py",
            label="View prompts",
        )
        return
    if not endpoints:
        show_empty_state("No endpoint yet", "An admin adds one on the page Language models.")
        return
    if not datasets:
        show_empty_state(
            "No dataset yet", "Import one first.", page="pages/import_questions.py", label="Import questions"
        )
        return
    form_key = state.form_key("bench")
    with st.form(form_key, border=True):
        left, right = st.columns(2)
        left.text_input("Name", key=f"{form_key}-name", max_chars=60)
        right.multiselect("Versions", prompts, default=prompts[1::-1], key=f"{form_key}-prompts")
        left.selectbox("Dataset", datasets, key=f"{form_key}-dataset")
        right.selectbox("Endpoint", [endpoint.name for endpoint in endpoints], key=f"{form_key}-endpoint")
        left.number_input(
            "Reports",
            1,
            models.MAX_REPORTS,
            10,
            key=f"{form_key}-reports",
            help="Drawn at random from the exams with a report. The seed is recorded.",
        )
        right.checkbox(
            "Send the radiographs, too",
            key=f"{form_key}-images",
            help="The endpoint must accept images.",
        )
        st.form_submit_button(
            "Create prompt bench",
            type="primary",
            on_click=run_action,
            args=(_create_bench, form_key),
            # The page chooses the seed, so that repeating a failed action creates the same bench.
            kwargs={"seed": secrets.randbits(32), "notice_key": _NOTICE},
        )
    show_notice(_NOTICE)


def _create_bench(form_key: str, *, seed: int) -> str:
    values = {
        field: state.get_widget_value(f"{form_key}-{field}")
        for field in ("name", "prompts", "dataset", "endpoint", "reports", "images")
    }
    chosen_prompts = values["prompts"]
    with unit_of_work() as db:
        bench = models.create_bench(
            db,
            by=current_person(),
            name=str(values["name"] or "").strip(),
            dataset=str(values["dataset"]),
            endpoint=str(values["endpoint"]),
            prompts=[str(label) for label in chosen_prompts] if isinstance(chosen_prompts, list) else [],
            reports=int(str(values["reports"])),
            seed=seed,
            with_radiographs=bool(values["images"]),
            now=clock(),
        )
    state.clear_form("bench")
    state.set_selection("bench", bench.name)
    return f"Created {bench.name}. Start its runs, and choose the experts."
