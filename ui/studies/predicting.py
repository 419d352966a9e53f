"""Predictions of a model come into a study by file, behind the page: a large file takes a while."""

from __future__ import annotations

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from reader_study import service as studies
from reader_study.extraction import FAILED
from reader_study.service import ImportedPredictions
from ui import state
from ui.behind.shown import is_going_on, what_came_of
from ui.behind.work import Work, work_of
from ui.context import clock, unit_of_work
from ui.imports.deliveries import Delivery
from ui.parts import act, notices
from ui.studies.by_file import begin_with_file, clear_when_in
from ui.studies.refused import show_refused
from ui.tables import table

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


def show_predictions(person: Person, study: str, study_id: int) -> None:
    """The form; while a file comes in, how far it is; then the rules that fired, or what was refused."""
    st.subheader("Predictions of a model")
    work = f"predictions-{study_id}"
    clear_when_in(work)
    form = state.form(work)
    st.text_input("Model", key=f"{form}-model", placeholder="as the report will name it")
    st.checkbox("Simulated", key=f"{form}-simulated", help="Marked so wherever it is shown.")
    st.file_uploader("JSON Lines, overread.prediction/1, up to 200 MB", key=f"{form}-file")
    if not is_going_on(work):
        st.button(
            "Bring in the predictions",
            key=f"{form}-go",
            type="primary",
            on_click=act,
            args=(_take, person, study, work, form),
            kwargs={"place": "predictions"},
        )
        what_came_of(work)
        came = work_of(work)
        if came is not None and isinstance(came.result, ImportedPredictions):
            _outcome(came.result)
    notices("predictions")
    with st.expander("What the file holds, and how free text is read"):
        st.markdown(
            "A line has `question_id` and `answer` (a letter, the exact text of an option, yes or no), or "
            "`raw` with the free text of the reply. Rules are tried in this order; what none of them can "
            "read is **failed**: it counts as wrong and is reported apart."
        )
        table([{"Rule": name, "Fires on": what} for name, what in _RULES.items()])


def _take(person: Person, study: str, work: str, form: str) -> None:
    # What was typed just now; arguments would be older.
    model, simulated = str(state.field(f"{form}-model") or ""), bool(state.field(f"{form}-simulated"))

    def take(delivery: Delivery, begun: Work) -> str:  # allow write-without-act: a thread of its own
        found = _imported(person, study, delivery, model, simulated=simulated, begun=begun)
        begun.result = found
        if found.refusals:
            raise Refused(f"Nothing came in: {found.refused:,} refused.")
        done, of = found.study_cases or (0, 0)
        return (
            f"{found.predictions:,} predictions of {found.model} came in; it has answered {done:,} of "
            f"{of:,} cases."
        )

    begin_with_file(person, work, form, take)  # allow write-without-act: a thread of its own


def _imported(
    person: Person, study: str, delivery: Delivery, model: str, *, simulated: bool, begun: Work
) -> ImportedPredictions:
    size = max(1, delivery.path.stat().st_size // 1024)
    with unit_of_work() as db:
        return studies.import_predictions(
            db,
            by=person,
            path=delivery.path,
            file_name=delivery.name,
            model=model,
            study=study,
            simulated=simulated,
            now=clock(),
            progress=lambda read: begun.tell(min(size, read // 1024), size, f"kB of {delivery.name} read"),
        )


def _outcome(found: ImportedPredictions) -> None:
    if found.refusals:
        show_refused(found.refusals)
        return
    table(
        [
            {
                "Rule": name,
                "Predictions": count,
                "Share": f"{count / found.predictions:.1%}",
                "": _RULES.get(name, ""),
            }
            for name, count in found.rules.items()
        ]
    )
