"""Imports readings that were recorded elsewhere, in a background job."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.count_texts import count_text
from domain.jobs import Job
from domain.people import Action, Person
from domain.problems import Refusal
from jobs.encoding import from_json
from jobs.service import JobFailed, JobKind, JobRun
from reader_study import service as studies
from ui.imports.deliveries import Delivery
from ui.refusals import MAX_REFUSALS_SHOWN, describe_refused_lines, show_refusals
from ui.studies.file_import import FileForm, discard_when_done, show_file_form


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingsRequest:
    """The parameters of the job: the name of the study, and the file."""

    study: str
    delivery: Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedReadings:
    """The first refusals of a file, and the number of all refusals."""

    refusals: tuple[Refusal, ...]
    refused: int


def show_readings(person: Person, study: str, study_id: int) -> None:
    """Show the form, and the progress or the outcome of the latest import with its refused lines."""
    st.subheader("Readings")
    show_file_form(
        FileForm(
            person=person,
            kind=READINGS,
            study_id=study_id,
            upload_label="CSV or JSON Lines file (overread.reading/1)",
            button_label="Import readings",
            build_request=lambda delivery, _: ReadingsRequest(study=study, delivery=delivery),
            show_result=_show_outcome,
        )
    )
    st.caption(
        "For readers without an account. Columns: study, reader, question_id, answer, confidence, seconds, "
        "read_at. If any line is invalid, nothing is imported."
    )


def _run(job: JobRun[ReadingsRequest]) -> None:
    request = job.parameters
    name = request.delivery.name
    with discard_when_done(request.delivery), job.transaction() as db:
        result = studies.import_readings(
            db,
            by=job.owner,
            study=request.study,
            content=request.delivery.path,
            file=name,
            now=job.now(),
            progress=lambda done, total: job.report_progress(done, total, f"readings of {name} imported"),
        )
        if result.refusals:
            refused_count = len(result.refusals)
            raise JobFailed(
                f"Nothing was imported from {name}: {describe_refused_lines(refused_count)}.",
                RefusedReadings(refusals=result.refusals[:MAX_REFUSALS_SHOWN], refused=refused_count),
            )
        readings, readers = (
            count_text(result.readings, "reading"),
            count_text(len(result.readers), "reader"),
        )
        job.finish(db, f"Imported {readings} of {readers} from {name}.")


def _show_outcome(job: Job) -> None:
    refused_readings = from_json(job.result or "", RefusedReadings)
    show_refusals(refused_readings.refusals, total=refused_readings.refused, item="line")


READINGS = JobKind(
    name="readings",
    title="Import readings",
    action=Action.RUN_STUDY,
    parameters=ReadingsRequest,
    run=_run,
)
