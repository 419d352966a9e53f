"""Training data of a release: the form, the background job that writes them, and the links to them."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.count_texts import count_text
from domain.errors import InvalidValue, Refused
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from release import service as release
from release.splits import Split
from release.training.box_formats import BoxFormat
from release.training.conversations import TrainingLibrary
from ui import state
from ui.background_jobs import job_control
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import current_person, current_workspace, read_only_session
from ui.widgets import escape_markdown, run_action, show_notice

_LIBRARY_NAMES = {
    TrainingLibrary.TRL: "TRL",
    TrainingLibrary.LLAMA_FACTORY: "LLaMA-Factory",
    TrainingLibrary.MS_SWIFT: "ms-swift",
}
_BOX_FORMAT_NAMES = {
    BoxFormat.GEMEX: "GEMeX: grid of 224 x 224",
    BoxFormat.PIXELS: "Pixels of the image",
    BoxFormat.QWEN2_VL: "Qwen2-VL",
    BoxFormat.QWEN25_VL: "Qwen2.5-VL",
    BoxFormat.QWEN3_VL: "Qwen3-VL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """The parameters of the job, stored by field name.

    ``form`` is the box format, and ``items`` the number of questions, from which progress is computed.
    """

    release_id: int
    library: TrainingLibrary
    form: BoxFormat
    items: int


def show_training_data(person: Person, record: release.ReleaseRecord) -> None:
    """Show the links to the training data of a release, and the form that writes further ones."""
    release_id = record.id
    job = job_control.load_latest_job(TRAINING_DATA, by=person, subject=str(release_id))
    is_active = job is not None and job.is_active
    with st.expander("Training data", expanded=job is not None):
        with read_only_session() as db:
            existing_data = release.list_training_data(
                db, by=person, workspace=current_workspace(), release_id=release_id
            )
        if existing_data:
            st.markdown("\n".join(_format_link(release_id, training) for training in existing_data))
        st.caption(_describe_split(release.choose_training_split(record.folder)))
        if not is_active:
            _show_form(record)
        show_job_progress(job)
        show_job_outcome(job)
        show_notice(f"training-{release_id}")


def _describe_split(split: Split) -> str:
    if split is Split.TRAIN:
        return (
            "The split train, with all views of each exam. The splits valid, test and private are excluded."
        )
    return (
        "This release has no split train, so all its public questions are written and can no longer serve as "
        "a test set. Private questions are excluded."
    )


def _format_link(release_id: int, training: release.TrainingData) -> str:
    left_out = "; ".join(f"{count:,} {reason}" for reason, count in training.left_out.items())
    return (
        f"- [{escape_markdown(training.name)} (ZIP)](/files/training/{release_id}/{training.name}.zip) · "
        f"split {training.split} · {count_text(training.questions, 'question')}, "
        f"{count_text(training.images, 'image')}" + (f" · {escape_markdown(left_out)}" if left_out else "")
    )


def _show_form(record: release.ReleaseRecord) -> None:
    key = f"training-{record.id}"
    with st.form(key, border=False):
        left, right, button = st.columns([2, 2, 2], vertical_alignment="bottom")
        left.selectbox(
            "Library",
            list(_LIBRARY_NAMES),
            key=f"{key}-library",
            format_func=lambda library: _LIBRARY_NAMES[library],
        )
        right.selectbox(
            "Boxes",
            list(_BOX_FORMAT_NAMES),
            key=f"{key}-form",
            format_func=lambda box_format: _BOX_FORMAT_NAMES[box_format],
            help="The box format that the model expects. ms-swift ignores it and converts boxes itself.",
        )
        button.form_submit_button(
            "Write training data",
            on_click=run_action,
            args=(_start_writing, record.id, record.items),
            kwargs={"notice_key": key},
            width="stretch",
            help="Conversations, images and the settings of a full fine-tune, as a folder for the library.",
        )


def _start_writing(release_id: int, items: int) -> None:
    library = state.get_widget_value(f"training-{release_id}-library")
    box_format = state.get_widget_value(f"training-{release_id}-form")
    if not isinstance(library, TrainingLibrary):
        raise InvalidValue("Library", "choose one")
    if not isinstance(box_format, BoxFormat):
        raise InvalidValue("Boxes", "choose one")
    request = TrainingRequest(release_id=release_id, library=library, form=box_format, items=items)
    job = job_control.start_job(TRAINING_DATA, request, by=current_person(), subject=str(release_id))
    if TRAINING_DATA.decode(job.parameters) != request:
        raise Refused("Other training data of this release are being written. Wait until they are finished.")


def _run(job: JobRun[TrainingRequest]) -> None:
    request = job.parameters

    def report_progress(count: int) -> None:
        job.report_progress(count, max(request.items, count), "questions")

    report_progress(0)
    with job.read_session() as db:
        training = release.write_training_data(
            db,
            by=job.owner,
            workspace=current_workspace(),
            release_id=request.release_id,
            library=request.library,
            form=request.form,
            progress=report_progress,
        )
    with job.transaction() as db:
        release.record_training_data(
            db, by=job.owner, release_id=request.release_id, training=training, now=job.now()
        )
        job.finish(
            db,
            f"Training data {training.name} contain {count_text(training.questions, 'question')} and "
            f"{count_text(training.images, 'image')}.",
        )


TRAINING_DATA = JobKind(
    name="training data",
    title="Training data",
    action=Action.MAKE_RELEASE,
    parameters=TrainingRequest,
    run=_run,
    failure_prefix="The training data were not written.",
)
