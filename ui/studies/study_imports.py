"""Imports into a study: predictions of models, and readings that were recorded elsewhere."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from reader_study import service as studies
from reader_study.service import StudySummary
from ui.context import read_only_session
from ui.layout import responsive_columns
from ui.studies.external_readings import show_readings
from ui.studies.predictions import show_predictions
from ui.tables import show_table


def show_study_imports(person: Person, summary: StudySummary) -> None:
    """Draw both imports, and the models with predictions."""
    study = summary.study
    with read_only_session() as db:
        models = studies.list_models(db, by=person, study=study.name)
    st.subheader("Models")
    show_table(
        [
            {
                "Model": model.name,
                "Predictions": model.predictions,
                "Failed": model.failed,
                "": "simulated" if model.simulated else "",
            }
            for model in models
        ],
        empty="No model has predictions on these questions yet. Bring them in below.",
    )
    left, right = responsive_columns(1, 1, name="incoming")
    with left:
        show_predictions(person, study.name, study.id)
    with right:
        show_readings(person, study.name, study.id)
