"""Shows the models of a study, and imports predictions and readings that were recorded elsewhere."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from reader_study import service as studies
from reader_study.service import StudyModel, StudySummary
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.layout import responsive_columns
from ui.studies.external_readings import show_readings
from ui.studies.predictions import show_predictions
from ui.tables import show_table
from ui.widgets import run_action, show_notice

_NOTICE_KEY = "study-models"


def show_study_imports(person: Person, summary: StudySummary) -> None:
    """Show the models of the study, the choice of models, and the imports of predictions and readings."""
    study = summary.study
    with read_only_session() as db:
        models = studies.list_study_models(db, by=person, study=study.name)
    st.subheader("Models")
    show_table(
        [
            {
                "Model": model.name,
                "In study": "yes" if model.chosen else "no",
                "Cases answered": f"{model.answered:,} of {model.cases:,}",
                "Predictions": model.predictions,
                "Failed": model.failed,
                "Note": "simulated" if model.simulated else "",
            }
            for model in models
        ],
        empty="No predictions for this study yet. Import them below.",
    )
    if models:
        _show_model_choice(person, summary, models)
    left, right = responsive_columns(1, 1, name="incoming")
    with left:
        show_predictions(person, study.name, study.id)
    with right:
        show_readings(person, study.name, study.id)


def _show_model_choice(person: Person, summary: StudySummary, models: tuple[StudyModel, ...]) -> None:
    study, primary_model = summary.study, summary.protocol.protocol.model
    choosable_names = [model.name for model in models if model.name != primary_model]
    saved_names = [model.name for model in models if model.chosen and model.name in choosable_names]
    form_key = state.form_key(f"models-{study.id}-{summary.protocol.version}-{len(choosable_names)}")
    labels = {model.name: f"{model.name} ({model.answered:,} of {model.cases:,} cases)" for model in models}
    chosen_names = st.multiselect(
        "Models in the study",
        choosable_names,
        default=saved_names,
        key=f"{form_key}-chosen",
        format_func=labels.__getitem__,
        placeholder="none",
    )
    if primary_model:
        st.caption(f"`{primary_model}` is always in the study, as the model of the primary comparison.")
    is_changed = set(chosen_names) != set(saved_names)
    reason = ""
    if summary.answers and is_changed:
        reason = st.text_input(
            "Reason for the change", key=f"{form_key}-reason", placeholder="required after the first answer"
        )
    st.button(
        "Save models",
        key=f"{form_key}-save",
        disabled=not is_changed or (summary.answers > 0 and not reason.strip()),
        on_click=run_action,
        args=(_save_models, person, study.name),
        kwargs={
            "add": tuple(name for name in chosen_names if name not in saved_names),
            "remove": tuple(name for name in saved_names if name not in chosen_names),
            "reason": reason,
            "notice_key": _NOTICE_KEY,
        },
    )
    show_notice(_NOTICE_KEY)
    st.caption("The models are part of the protocol. All versions are kept, and the report names the models.")


def _save_models(
    person: Person, study: str, *, add: tuple[str, ...], remove: tuple[str, ...], reason: str
) -> str:
    with unit_of_work() as db:
        version = studies.choose_models(
            db, by=person, study=study, add=add, remove=remove, reason=reason, now=clock()
        )
    return f"Saved protocol version {version.version}."
