"""Evaluations: models answer the questions of a release, as given and in control conditions."""

from __future__ import annotations

import streamlit as st

from domain.language_models import format_cost
from domain.people import Action
from evaluation import service as evaluations
from ui.context import clock, read_only_session, require_page
from ui.evaluations.plan_form import show_plan_form
from ui.evaluations.progress import show_progress
from ui.evaluations.results import show_results
from ui.tables import show_table
from ui.widgets import escape_markdown, page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a second click cannot interrupt the first."""
    person = require_page(Action.RUN_MODELS)
    st.title("Evaluations")
    with read_only_session() as db:
        progresses = [
            evaluations.load_progress(db, by=person, name=evaluation.name, now=clock())
            for evaluation in evaluations.list_evaluations(db, by=person)
        ]
    if progresses:
        show_table([_evaluation_row(progress) for progress in progresses], visible_rows=8)
        name = st.selectbox(
            "Evaluation",
            [progress.evaluation.name for progress in progresses],
            key=f"evaluation-of-{len(progresses)}",
            width=420,
        )
        progress = next(progress for progress in progresses if progress.evaluation.name == name)
        evaluation = progress.evaluation
        st.caption(
            escape_markdown(
                f"{evaluations.describe_model(evaluation)} · dataset {evaluation.dataset}, release "
                f"{evaluation.release}, {evaluation.split} split · prompt {evaluation.prompt or 'none'} · "
                f"PNG, {evaluation.image_size.label} · seed {evaluation.seed}"
            )
        )
        show_progress(name)
        show_results(progress)
    else:
        show_empty_state(
            "No evaluations yet",
            "An evaluation asks a model the questions of a release, with the image and in control "
            "conditions, for example without it.",
        )
    show_plan_form(person, planned=len(progresses))


def _evaluation_row(progress: evaluations.EvaluationProgress) -> dict[str, object]:
    evaluation = progress.evaluation
    return {
        "Evaluation": evaluation.name,
        "Release": f"{evaluation.dataset} {evaluation.release}",
        "Split": evaluation.split,
        "Model": evaluations.describe_model(evaluation),
        "Conditions": len(progress.conditions),
        "Answers": progress.answers,
        "Requests": progress.cases,
        "Cost": format_cost(progress.cost_nanos),
        "Planned": f"{evaluation.created_at:%Y-%m-%d %H:%M} UTC",
    }


main()
