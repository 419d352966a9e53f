"""Imports a model's predictions into a study, in a background job because a large file takes long."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from domain.count_texts import count_text
from domain.jobs import Job
from domain.people import Action, Person
from jobs.encoding import from_json
from jobs.service import JobFailed, JobKind, JobRun
from reader_study import service as studies
from reader_study.extraction import FAILED
from reader_study.service import ImportedPredictions
from ui import state
from ui.imports.deliveries import Delivery
from ui.refusals import MAX_REFUSALS_SHOWN, describe_refused_lines, show_refusals
from ui.studies.file_import import FileForm, discard_when_done, show_file_form
from ui.tables import show_table

#: What each rule of the answer extraction reads, as shown to the coordinator.
RULE_DESCRIPTIONS = {
    "given": "the file states the answer",
    "tag": "<answer>B</answer>",
    "json": '{"answer": "B"}',
    "boxed": "\\\\boxed{B}",
    "explicit": "the last “answer is X” in the reply",
    "statement": "“Option B is correct”, “B is the correct answer”, “not A but B”",
    "letter": "a single letter, “yes” or “no”",
    "option text": "the reply is the text of one option",
    "leading yes/no": "the reply to a yes/no question begins with “Yes,” or “No,” and does not contradict it",
    "whole reply": "the reply to a free-text question",
    FAILED: "no answer recognised; counts as wrong",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionsRequest:
    """The parameters of the job: the study, the file, the model, and whether the model is simulated."""

    study: str
    delivery: Delivery
    model: str
    simulated: bool


def show_predictions(person: Person, study: str, study_id: int) -> None:
    """Show the form, the progress or outcome of the latest import, and a description of the format."""
    st.subheader("Predictions")

    def build_request(delivery: Delivery, form_key: str) -> PredictionsRequest:
        return PredictionsRequest(
            study=study,
            delivery=delivery,
            model=str(state.get_widget_value(f"{form_key}-model") or ""),
            simulated=bool(state.get_widget_value(f"{form_key}-simulated")),
        )

    show_file_form(
        FileForm(
            person=person,
            kind=PREDICTIONS,
            study_id=study_id,
            upload_label="JSON Lines file (overread.prediction/1, up to 200 MB)",
            button_label="Import predictions",
            build_request=build_request,
            show_result=_show_outcome,
            draw_fields=_show_model_fields,
            is_primary=True,
        )
    )
    with st.expander("File format and answer extraction"):
        st.markdown(
            "Each line has `question_id` and either `answer` (a letter, the exact text of an option, yes or "
            "no) or `raw` (the reply as free text). The rules below are tried in this order. A reply without "
            "a recognised answer is **failed**: it counts as wrong and is also reported separately."
        )
        show_table([{"Rule": name, "Applies to": pattern} for name, pattern in RULE_DESCRIPTIONS.items()])


def _show_model_fields(form_key: str) -> None:
    st.text_input("Model", key=f"{form_key}-model", placeholder="name in the report")
    st.checkbox(
        "Simulated",
        key=f"{form_key}-simulated",
        help="The model is marked as simulated wherever it is shown.",
    )


def _run(job: JobRun[PredictionsRequest]) -> None:
    request = job.parameters
    path, name = request.delivery.path, request.delivery.name
    with discard_when_done(request.delivery):
        size_kb = max(1, path.stat().st_size // 1024)
        with job.transaction() as db:
            imported = studies.import_predictions(
                db,
                by=job.owner,
                path=path,
                file_name=name,
                model=request.model,
                study=request.study,
                simulated=request.simulated,
                now=job.now(),
                progress=lambda bytes_read: job.report_progress(
                    min(size_kb, bytes_read // 1024), size_kb, f"kB of {name} read"
                ),
            )
            job_result = replace(imported, refusals=imported.refusals[:MAX_REFUSALS_SHOWN])
            if imported.refusals:
                raise JobFailed(
                    f"Nothing was imported from {name}: {describe_refused_lines(imported.refused)}.",
                    job_result,
                )
            answered, total = imported.study_cases or (0, 0)
            job.finish(
                db,
                f"Imported {count_text(imported.predictions, 'prediction')} of {imported.model}, which has "
                f"now answered {answered:,} of {count_text(total, 'case')}.",
                job_result,
            )


def _show_outcome(job: Job) -> None:
    imported = from_json(job.result or "", ImportedPredictions)
    if imported.refusals:
        show_refusals(imported.refusals, total=imported.refused, item="line")
        return
    show_table(
        [
            {
                "Rule": name,
                "Predictions": count,
                "Share": f"{count / imported.predictions:.1%}",
                "Applies to": RULE_DESCRIPTIONS.get(name, ""),
            }
            for name, count in imported.rules.items()
        ]
    )


PREDICTIONS = JobKind(
    name="predictions",
    title="Import predictions",
    action=Action.RUN_STUDY,
    parameters=PredictionsRequest,
    run=_run,
)
