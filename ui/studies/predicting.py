"""Importing a model's predictions into a study, in the background because a large file takes a while."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from domain.jobs import Job
from domain.people import Action, Person
from jobs.encoding import from_json
from jobs.service import JobFailed, JobKind, JobRun
from reader_study import service as studies
from reader_study.extraction import FAILED
from reader_study.service import ImportedPredictions
from ui import state
from ui.imports.deliveries import Delivery
from ui.studies.by_file import FileForm, discarded_at_the_end, draw
from ui.studies.refused import SHOWN, refused_lines, show_refused
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionsRequest:
    """The parameters: the study, the file, the model, and whether the model is simulated."""

    study: str
    delivery: Delivery
    model: str
    simulated: bool


def show_predictions(person: Person, study: str, study_id: int) -> None:
    """Draw the form; the progress while a file is imported; then the rules applied, or the refused lines."""
    st.subheader("Predictions of a model")

    def request(delivery: Delivery, form: str) -> PredictionsRequest:
        return PredictionsRequest(
            study=study,
            delivery=delivery,
            model=str(state.field(f"{form}-model") or ""),
            simulated=bool(state.field(f"{form}-simulated")),
        )

    draw(
        FileForm(
            person=person,
            kind=PREDICTIONS,
            study_id=study_id,
            file="JSON Lines, overread.prediction/1, up to 200 MB",
            go="Bring in the predictions",
            request=request,
            outcome=_outcome,
            draw_fields=_ask,
            main=True,
        )
    )
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


def _run(job: JobRun[PredictionsRequest]) -> None:
    asked = job.parameters
    path, name = asked.delivery.path, asked.delivery.name
    with discarded_at_the_end(asked.delivery):
        size = max(1, path.stat().st_size // 1024)
        with job.transaction() as db:
            found = studies.import_predictions(
                db,
                by=job.owner,
                path=path,
                file_name=name,
                model=asked.model,
                study=asked.study,
                simulated=asked.simulated,
                now=job.now(),
                progress=lambda read: job.report(min(size, read // 1024), size, f"kB of {name} read"),
            )
            shown = replace(found, refusals=found.refusals[:SHOWN])
            if found.refusals:
                raise JobFailed(f"Nothing of {name} came in: {refused_lines(found.refused)}.", shown)
            done, of = found.study_cases or (0, 0)
            job.finish(
                db,
                f"{found.predictions:,} predictions of {found.model} came in; it has answered {done:,} of "
                f"{of:,} cases.",
                shown,
            )


def _outcome(job: Job) -> None:
    found = from_json(job.result or "", ImportedPredictions)
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


PREDICTIONS = JobKind(
    name="predictions",
    title="Predictions of a model",
    action=Action.RUN_STUDY,
    parameters=PredictionsRequest,
    run=_run,
)
