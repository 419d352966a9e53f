"""Imports into a study: predictions of models, and readings that were recorded elsewhere."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from reader_study import service as studies
from reader_study.service import StudySummary
from ui.context import reading
from ui.layout import beside
from ui.studies.outside import show_readings
from ui.studies.predicting import show_predictions
from ui.tables import table


def show_incoming(person: Person, summary: StudySummary) -> None:
    """Draw both imports, and the models with predictions."""
    study = summary.study
    with reading() as db:
        models = studies.list_models(db, by=person, study=study.name)
    st.subheader("Models")
    table(
        [
            {
                "Model": each.name,
                "Predictions": each.predictions,
                "Failed": each.failed,
                "": "simulated" if each.simulated else "",
            }
            for each in models
        ],
        empty="No model has predictions on these questions yet. Bring them in below.",
    )
    left, right = beside(1, 1, name="incoming")
    with left:
        show_predictions(person, study.name, study.id)
    with right:
        show_readings(person, study.name, study.id)
