"""Juries: the form that plans a jury."""

from __future__ import annotations

import streamlit as st

from domain.checks import CHECKS, JURY_CHECKS, Check
from domain.errors import InvalidValue
from domain.language_models import Budget, Endpoint
from domain.people import Person
from language_models import service as models
from language_models.families import FAMILIES, find_family
from quality.service import PILOT_QUESTIONS, DatasetSummary, JurySettings, plan_jury
from ui import state
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import run_action, show_empty_state, show_notice


def show_plan_form(dataset: DatasetSummary, person: Person) -> None:
    """Show the form; if there are no endpoints of two families, show what to do first."""
    with read_only_session() as db:
        endpoints = [endpoint_state.endpoint for endpoint_state in models.list_endpoints(db, by=person)]
    st.markdown("**New jury**")
    families = {find_family(endpoint) for endpoint in endpoints}
    if len(families) < 2:
        show_empty_state(
            "Endpoints of two model families are needed",
            "An admin adds endpoints on the page Language models.",
        )
    else:
        _show_form(dataset, endpoints)
    show_notice("plan-jury")


def _show_form(dataset: DatasetSummary, endpoints: list[Endpoint]) -> None:
    form_key = state.form_key(f"jury-{dataset.id}")
    endpoints_by_name = {endpoint.name: endpoint for endpoint in endpoints}
    with st.form(form_key, border=False):
        left, right = st.columns(2)
        left.multiselect(
            "Judges",
            list(endpoints_by_name),
            key=f"{form_key}-judges",
            format_func=lambda name: f"{name} ({find_family(endpoints_by_name[name])})",
            help="Endpoints of two or more families, shown in brackets.",
        )
        right.multiselect(
            "Checks",
            list(JURY_CHECKS),
            default=list(JURY_CHECKS),
            key=f"{form_key}-checks",
            format_func=lambda check: CHECKS[check].check.label,
        )
        left.number_input(
            "Number of questions",
            0,
            None,
            PILOT_QUESTIONS,
            key=f"{form_key}-questions",
            help="Chosen at random. 0 for all that these models have not judged.",
        )
        right.number_input(
            "Maximum calls per check and judge",
            0,
            None,
            0,
            key=f"{form_key}-calls",
            help="The jury pauses at this number. 0: no limit.",
        )
        st.checkbox(
            "Only questions with a verdict of a reviewer",
            key=f"{form_key}-judged",
            help="To measure the checks before all questions are paid for.",
        )
        left, right = st.columns(2)
        left.selectbox(
            "Family that wrote questions without a known author",
            sorted({*FAMILIES, *map(find_family, endpoints)}),
            index=None,
            placeholder="No model wrote them",
            key=f"{form_key}-written-by",
        )
        right.text_input(
            "Reason to let models judge their own family",
            key=f"{form_key}-reason",
            help="Empty: they do not. The reason is recorded in the audit trail.",
        )
        st.form_submit_button(
            "Plan jury",
            on_click=run_action,
            args=(_plan_new_jury, form_key, dataset.name, dataset.id),
            kwargs={"notice_key": "plan-jury"},
        )


def _plan_new_jury(form_key: str, dataset: str, dataset_id: int) -> str:
    judges = state.get_widget_value(f"{form_key}-judges")
    checks = state.get_widget_value(f"{form_key}-checks")
    questions = state.get_widget_value(f"{form_key}-questions")
    calls = state.get_widget_value(f"{form_key}-calls")
    if (
        not isinstance(judges, list)
        or not isinstance(checks, list)
        or not isinstance(questions, int)
        or not isinstance(calls, int)
    ):
        raise InvalidValue("judges", "the form is not complete; load the page again")
    settings = JurySettings(
        dataset=dataset,
        endpoints=tuple(judges),
        checks=tuple(Check(check) for check in checks),
        questions=questions or None,
        judged_only=bool(state.get_widget_value(f"{form_key}-judged")),
        written_by=str(state.get_widget_value(f"{form_key}-written-by") or "").strip() or None,
        override_reason=str(state.get_widget_value(f"{form_key}-reason") or "").strip(),
    )
    with unit_of_work() as db:
        jury = plan_jury(
            db,
            by=current_person(),
            settings=settings,
            budget=Budget(max_calls=calls) if calls else None,
            now=clock(),
        )
    state.clear_form(f"jury-{dataset_id}")
    return f"Planned jury {jury.id}. No request has been sent; start it above."
