"""Evaluations: the form that plans an evaluation with an endpoint."""

from __future__ import annotations

import streamlit as st

from domain.errors import InvalidValue
from domain.evaluations import Condition, ImageSize
from domain.jobs import JobStatus
from domain.language_models import Budget, Endpoint
from domain.people import Person
from evaluation import service as evaluations
from language_models import service as models
from release import service as releases
from release.splits import Split
from ui import state
from ui.background_jobs import job_control
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import current_person, read_only_session
from ui.widgets import run_action, show_empty_state, show_notice

_DEFAULT_PROMPT = "evaluation (comes with the software)"
_SIZE_LABELS = {ImageSize.QUARTER: "A quarter of each side", ImageSize.FULL: "All pixels"}
_CONDITION_HELP = (
    "**As given**: the question with the radiographs of its exam. **No image**: the text alone. **Other "
    "image**: the radiographs of another patient, with the same views. **Options shuffled**: another order "
    "of the options. **Paraphrased**: the stem in other words; what changes the meaning is excluded."
)


def show_plan_form(person: Person, *, planned: int) -> None:
    """Show the form; if there is no release or no endpoint, show what to do first.

    Args:
        person: the acting person.
        planned: the number of existing evaluations. When it changes, the form is emptied.
    """
    with read_only_session() as db:
        release_list = releases.list_releases(db, by=person)
        endpoints = [endpoint_state.endpoint for endpoint_state in models.list_endpoints(db, by=person)]
        prompts = [version.label for version in models.list_prompts(db, by=person)]
    job = job_control.load_own_latest_job(evaluations.EVALUATION_PLAN, by=person)
    is_open = not planned or (job is not None and job.status is not JobStatus.DONE)
    with st.expander("Plan an evaluation", expanded=is_open):
        if not release_list:
            show_empty_state(
                "No releases yet",
                "Create a release first. An evaluation uses its questions.",
                "pages/releases.py",
                "Create a release",
            )
        elif not endpoints:
            show_empty_state(
                "No endpoint yet",
                "An admin adds endpoints on the page Language models. Programs and files are used with "
                "cli.py evaluate plan.",
            )
        else:
            release_names = {
                f"{record.dataset} {record.name}": (record.dataset, record.name) for record in release_list
            }
            _show_form(f"evaluation-{planned}", release_names, endpoints, prompts)
        show_job_progress(job)
    show_job_outcome(job)
    show_notice("plan-evaluation")


def _show_form(
    form_key: str, release_names: dict[str, tuple[str, str]], endpoints: list[Endpoint], prompts: list[str]
) -> None:
    with st.form(form_key, border=False):
        left, right = st.columns(2)
        left.text_input("Name", key=f"{form_key}-name", placeholder="qwen3-vl quarter size")
        right.selectbox("Release", list(release_names), key=f"{form_key}-release")
        left.selectbox(
            "Endpoint",
            [endpoint.name for endpoint in endpoints],
            key=f"{form_key}-endpoint",
            format_func=lambda name: _describe_endpoint(name, endpoints),
        )
        right.selectbox("Split", list(Split), key=f"{form_key}-split", format_func=lambda split: split.value)
        default_conditions = [condition for condition in Condition if condition is not Condition.PARAPHRASED]
        st.multiselect(
            "Conditions",
            list(Condition),
            default=default_conditions,
            key=f"{form_key}-conditions",
            format_func=lambda condition: condition.value,
            help=_CONDITION_HELP,
        )
        left, right = st.columns(2)
        left.selectbox(
            "Radiographs",
            list(_SIZE_LABELS),
            key=f"{form_key}-size",
            format_func=lambda size: _SIZE_LABELS[size],
            help="Sent as PNG, all radiographs of the exam, each with its view.",
        )
        right.selectbox("Prompt", [_DEFAULT_PROMPT, *prompts], key=f"{form_key}-prompt")
        left.number_input(
            "Seed",
            0,
            2**31 - 1,
            1,
            key=f"{form_key}-seed",
            help="Determines the other patients and the orders of options.",
        )
        right.selectbox(
            "Paraphrases by",
            [endpoint.name for endpoint in endpoints],
            key=f"{form_key}-paraphrases",
            help="The endpoint that writes the stems of the condition “paraphrased”. Otherwise not used.",
        )
        left.number_input(
            "Maximum calls per condition",
            0,
            None,
            0,
            key=f"{form_key}-calls",
            help="0 for no limit. The evaluation pauses there.",
        )
        st.form_submit_button(
            "Plan evaluation",
            type="primary",
            on_click=run_action,
            args=(_plan_evaluation, form_key, release_names),
            kwargs={"notice_key": "plan-evaluation"},
        )


def _describe_endpoint(name: str, endpoints: list[Endpoint]) -> str:
    endpoint = next(endpoint for endpoint in endpoints if endpoint.name == name)
    return f"{name}: {endpoint.model}{'' if endpoint.accepts_images else ' (no images)'}"


def _plan_evaluation(form_key: str, release_names: dict[str, tuple[str, str]]) -> None:
    name = str(state.get_widget_value(f"{form_key}-name") or "").strip()
    prompt = str(state.get_widget_value(f"{form_key}-prompt"))
    conditions = state.get_widget_value(f"{form_key}-conditions")
    calls = state.get_widget_value(f"{form_key}-calls")
    seed = state.get_widget_value(f"{form_key}-seed")
    if not isinstance(conditions, list) or not isinstance(calls, int) or not isinstance(seed, int):
        raise InvalidValue("conditions", "the form is not complete; load the page again")
    dataset, release = release_names[str(state.get_widget_value(f"{form_key}-release"))]
    settings = evaluations.PlanSettings(
        name=name,
        dataset=dataset,
        release=release,
        split=Split(str(state.get_widget_value(f"{form_key}-split"))),
        conditions=tuple(Condition(condition) for condition in conditions),
        image_size=ImageSize(str(state.get_widget_value(f"{form_key}-size"))),
        seed=seed,
    )
    parameters = evaluations.PlanParameters(
        settings=settings,
        endpoint=str(state.get_widget_value(f"{form_key}-endpoint")),
        prompt=None if prompt == _DEFAULT_PROMPT else prompt,
        paraphrases_by=str(state.get_widget_value(f"{form_key}-paraphrases")),
        budget=Budget(max_calls=calls) if calls else None,
    )
    job_control.start_job(evaluations.EVALUATION_PLAN, parameters, by=current_person(), subject=name)
