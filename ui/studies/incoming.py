"""What comes into a study by file: predictions of models, and readings that were given elsewhere."""

from __future__ import annotations

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from reader_study import service as studies
from reader_study.service import OutsideReadings, StudySummary
from ui import state
from ui.context import clock, reading, unit_of_work
from ui.imports.deliveries import discard, uploaded
from ui.layout import beside
from ui.parts import act, notices, plain, table
from ui.studies.predicting import show_predictions
from ui.studies.refused import show_refused


def show_incoming(person: Person, summary: StudySummary) -> None:
    """Both ways in, and the models that are there."""
    study = summary.study
    with reading() as db:
        models = studies.list_models(db, by=person, study=study.name)
    st.subheader("Models")
    table(
        [
            {
                "model": each.name,
                "predictions": each.predictions,
                "failed": each.failed,
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
        _readings(person, study.name, study.id)


def _readings(person: Person, study: str, study_id: int) -> None:
    st.subheader("Readings from outside")
    form = state.form(f"readings-{study_id}")
    st.file_uploader("CSV or JSON Lines, overread.reading/1", key=f"{form}-file")
    st.button(
        "Bring in the readings",
        key=f"{form}-go",
        on_click=act,
        args=(_take_readings, person, study, study_id, f"{form}-file"),
        kwargs={"place": "readings"},
    )
    notices("readings")
    found = state.chosen(f"readings-{study_id}")
    if isinstance(found, OutsideReadings) and found.refusals:
        st.error(plain(f"Nothing came in: {len(found.refusals):,} refused."))
        show_refused(found.refusals)
    st.caption(
        "Columns: study, reader, question_id, answer, confidence, seconds, read_at. For readers without an "
        "account; the file lands whole or not at all."
    )


def _take_readings(person: Person, study: str, study_id: int, file_key: str) -> str | None:
    file = state.field(file_key)
    if file is None:
        raise Refused("Choose a file of readings first.")
    delivery = uploaded(file, None, by=person, in_memory=False)  # type: ignore[arg-type]  # what an uploader holds
    try:
        with unit_of_work() as db:
            found = studies.import_readings(
                db, by=person, study=study, content=delivery.path, file=delivery.name, now=clock()
            )
    finally:
        discard(delivery)
    state.set_chosen(f"readings-{study_id}", found)
    if found.refusals:
        return None
    state.clear_form(f"readings-{study_id}")
    return f"{found.readings:,} readings of {len(found.readers)} readers came in."
