"""The form that imports a file into a study in the background, with its progress and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from domain.errors import Refused
from domain.jobs import Job, JobStatus
from domain.people import Person
from jobs.service import JobKind, LeaseLost
from ui import state
from ui.background_jobs import job_control
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.imports.deliveries import Delivery, discard, save_upload
from ui.widgets import run_action, show_notice

P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileForm(Generic[P]):
    """A form for importing a file into a study.

    Attributes:
        person: the coordinator who imports the file.
        kind: the kind of job that imports the file. Only one such job runs at a time per study.
        study_id: the id of the study.
        upload_label: the label of the field for the file.
        button_label: the label of the button.
        build_request: returns the job's parameters, given the file and the key of the form.
        show_result: shows the details of the finished job.
        draw_fields: shows the other fields, given the key of the form.
        is_primary: whether the button is the primary one of the page.
    """

    person: Person
    kind: JobKind[P]
    study_id: int
    upload_label: str
    button_label: str
    build_request: Callable[[Delivery, str], P]
    show_result: Callable[[Job], None]
    draw_fields: Callable[[str], None] = lambda _: None
    is_primary: bool = False

    @property
    def form_name(self) -> str:
        return f"{self.kind.name}-{self.study_id}"


def show_file_form(file_form: FileForm[P]) -> None:
    """Show the form, and the progress or the outcome of the latest import."""
    job = job_control.load_latest_job(
        file_form.kind, by=file_form.person, subject=f"study {file_form.study_id}"
    )
    _clear_when_imported(file_form.form_name, job)
    form_key = state.form_key(file_form.form_name)
    file_form.draw_fields(form_key)
    st.file_uploader(file_form.upload_label, key=f"{form_key}-file")
    notice_key = f"file-{file_form.form_name}"
    if not show_job_progress(job):
        st.button(
            file_form.button_label,
            key=f"{form_key}-go",
            type="primary" if file_form.is_primary else "secondary",
            on_click=run_action,
            args=(_start_import, file_form, form_key),
            kwargs={"notice_key": notice_key},
        )
        show_job_outcome(job)
        if job is not None and job.result is not None:
            file_form.show_result(job)
    show_notice(notice_key)


@contextmanager
def discard_when_done(delivery: Delivery) -> Iterator[None]:
    """Delete the file after the import succeeded or failed.

    Keep it if this process has lost the lease of the job, because another process will read the file.
    """
    try:
        yield
    except LeaseLost:
        raise
    except BaseException:
        discard(delivery)
        raise
    discard(delivery)


def _start_import(file_form: FileForm[P], form_key: str) -> None:
    file = state.get_widget_value(f"{form_key}-file")
    if file is None:
        raise Refused("Choose a file first.")
    delivery = save_upload(file, None, by=file_form.person, in_memory=False)  # type: ignore[arg-type]  # an uploaded file
    request = file_form.build_request(delivery, form_key)
    job = job_control.start_job(
        file_form.kind, request, by=file_form.person, subject=f"study {file_form.study_id}"
    )
    if file_form.kind.decode(job.parameters) != request:
        discard(delivery)
        raise Refused("Another import is running. Wait until it finishes.")
    state.set_selection(file_form.form_name, job.number)


def _clear_when_imported(form_name: str, job: Job | None) -> None:
    """Reset the form when its file is imported. After a refusal, the input is kept for correction."""
    if job is not None and job.number == state.get_selection(form_name) and job.status is JobStatus.DONE:
        state.clear_form(form_name)
        state.set_selection(form_name, None)
