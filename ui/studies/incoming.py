"""What comes into a study by file: predictions of models, and readings that were given elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from domain.problems import Refusal
from reader_study import service as studies
from reader_study.extraction import FAILED
from reader_study.service import ImportedPredictions, OutsideReadings, StudySummary
from ui import state
from ui.context import clock, reading, unit_of_work
from ui.imports.deliveries import discard, uploaded
from ui.layout import beside
from ui.parts import act, notices, plain, table

_SHOWN = 50  # refusals on the page
_RULES = {
    "given": "the file gives the answer itself",
    "tag": "<answer>B</answer>",
    "json": '{"answer": "B"}',
    "boxed": "\\\\boxed{B}",
    "explicit": "the last “answer is X”",
    "letter": "a lone letter, yes or no",
    "option text": "the whole reply is one option",
    "whole reply": "an open question",
    FAILED: "none was found: counts as wrong",
}


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
        _predictions(person, study.name, study.id)
    with right:
        _readings(person, study.name, study.id)


def _predictions(person: Person, study: str, study_id: int) -> None:
    st.subheader("Predictions of a model")
    form = state.form(f"predictions-{study_id}")
    st.text_input("Model", key=f"{form}-model", placeholder="as the report will name it")
    st.checkbox("Simulated", key=f"{form}-simulated", help="Marked so wherever it is shown.")
    st.file_uploader("JSON Lines, overread.prediction/1, up to 200 MB", key=f"{form}-file")
    st.button(
        "Bring in the predictions",
        key=f"{form}-go",
        type="primary",
        on_click=act,
        args=(_take_predictions, person, study, study_id, form),
        kwargs={"place": "predictions"},
    )
    notices("predictions")
    found = state.chosen(f"predictions-{study_id}")
    if isinstance(found, ImportedPredictions):
        _outcome(found)
    with st.expander("What the file holds, and how free text is read"):
        st.markdown(
            "A line has `question_id` and `answer` (a letter, the exact text of an option, yes or no), or "
            "`raw` with the free text of the reply. Rules are tried in this order; what none of them can "
            "read is **failed**: it counts as wrong and is reported apart."
        )
        table([{"rule": name, "fires on": what} for name, what in _RULES.items()])


def _take_predictions(person: Person, study: str, study_id: int, form: str) -> str | None:
    file = state.field(f"{form}-file")
    if file is None:
        raise Refused("Choose a file of predictions first.")
    model = str(state.field(f"{form}-model") or "")  # what was typed just now; an argument would be older
    delivery = uploaded(file, None, by=person, in_memory=False)  # type: ignore[arg-type]  # what an uploader holds
    try:
        with unit_of_work() as db:
            found = studies.import_predictions(
                db,
                by=person,
                path=delivery.path,
                file_name=delivery.name,
                model=model,
                study=study,
                simulated=bool(state.field(f"{form}-simulated")),
                now=clock(),
            )
    finally:
        discard(delivery)
    state.set_chosen(f"predictions-{study_id}", found)
    if found.refusals:
        return None
    state.clear_form(f"predictions-{study_id}")
    done, of = found.study_cases or (0, 0)
    return (
        f"{found.predictions:,} predictions of {found.model} came in; it has answered {done:,} of "
        f"{of:,} cases."
    )


def _outcome(found: ImportedPredictions) -> None:
    if found.refusals:
        _refused(found.refusals, found.refused)
        return
    table(
        [
            {
                "rule": name,
                "predictions": count,
                "share": f"{count / found.predictions:.1%}",
                "": _RULES.get(name, ""),
            }
            for name, count in found.rules.items()
        ]
    )


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
        _refused(found.refusals, len(found.refusals))
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


def _refused(refusals: Sequence[Refusal], count: int) -> None:
    st.error(plain(f"Nothing came in: {count:,} refused."))
    table([{"line": each.record, "field": each.field, "reason": each.reason} for each in refusals[:_SHOWN]])
