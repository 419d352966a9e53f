"""Predictions of a model come into a study by file, behind the page: a large file takes a while."""

from __future__ import annotations

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from reader_study import service as studies
from reader_study.extraction import FAILED
from reader_study.service import ImportedPredictions
from ui.behind.work import Work
from ui.context import clock, unit_of_work
from ui.imports.deliveries import Delivery
from ui.studies.by_file import FileForm, Typed, draw
from ui.studies.refused import refused_lines, show_refused
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
    asked = FileForm(
        person=person,
        study=study,
        work=f"predictions-{study_id}",
        file="JSON Lines, overread.prediction/1, up to 200 MB",
        go="Bring in the predictions",
        take=_take,  # allow write-without-act: the form begins it by act
        outcome=_outcome,
        fields=("model", "simulated"),
        draw_fields=_ask,
        main=True,
    )
    draw(asked)
    with st.expander("What the file holds, and how free text is read"):
        st.markdown(
            "A line has `question_id` and `answer` (a letter, the exact text of an option, yes or no), or "
            "`raw` with the free text of the reply. Rules are tried in this order; what none of them can "
            "read is **failed**: it counts as wrong and is reported apart."
        )
        table([{"Rule": name, "Fires on": what} for name, what in _RULES.items()])


def _ask(form: str) -> None:
    st.text_input("Model", key=f"{form}-model", placeholder="as the report will name it")
    st.checkbox("Simulated", key=f"{form}-simulated", help="Marked so wherever it is shown.")


def _take(person: Person, study: str, typed: Typed, delivery: Delivery, work: Work) -> str:
    size = max(1, delivery.path.stat().st_size // 1024)
    with unit_of_work() as db:
        found = studies.import_predictions(
            db,
            by=person,
            path=delivery.path,
            file_name=delivery.name,
            model=str(typed["model"] or ""),
            study=study,
            simulated=bool(typed["simulated"]),
            now=clock(),
            progress=lambda read: work.tell(min(size, read // 1024), size, f"kB of {delivery.name} read"),
        )
    work.result = found
    if found.refusals:
        raise Refused(f"Nothing of {delivery.name} came in: {refused_lines(found.refused)}.")
    done, of = found.study_cases or (0, 0)
    return (
        f"{found.predictions:,} predictions of {found.model} came in; it has answered {done:,} of {of:,} "
        "cases."
    )


def _outcome(found: ImportedPredictions) -> None:
    if found.refusals:
        show_refused(found.refusals, of=found.refused)
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
