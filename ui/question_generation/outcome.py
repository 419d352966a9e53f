"""Shows what was generated: counts, what was not built, the questions with their origin, the next steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from urllib.parse import urlencode

import streamlit as st

from domain.count_texts import count_text
from domain.errors import Refused
from domain.jobs import Job, JobStatus
from domain.people import Person
from generation.generated_questions import GeneratedQuestion, read_generated_questions
from generation.templates.selection import describe_per_exam
from ui import state
from ui.background_jobs import job_control
from ui.background_jobs.job_status import show_job_message
from ui.imports import import_job
from ui.imports.deliveries import Delivery, discard
from ui.question_generation import generation_job
from ui.questions.card import show_stem_options_key
from ui.refusals import show_refusals
from ui.search.provenance import show_provenance, show_report
from ui.tables import show_table
from ui.widgets import escape_markdown, go_to, run_action, show_notice

#: The maximum number of questions that can be read before the import.
_MAX_SHOWN = 250


def show_generation_outcome(job: Job, person: Person) -> None:
    """Show the outcome of a generation, and the buttons of the next steps."""
    outcome, request = generation_job.decode_outcome(job), generation_job.decode_request(job)
    show_job_message(job)
    delivery = generation_job.find_generated_file(job)
    has_file = job.status is JobStatus.DONE and delivery.path.exists()
    if job.status is JobStatus.DONE and not has_file:
        st.info("The file was imported or discarded.")
    if outcome is not None and outcome.runs:
        links = [
            f"[{escape_markdown(name)}](/model_runs?{urlencode({'run': name})})" for name in outcome.runs
        ]
        st.caption(f"Model runs: {', '.join(links)}")
    if has_file and outcome is not None:
        _show_buttons(job, request, delivery, person, questions=outcome.questions)
    else:
        if job.status in {JobStatus.FAILED, JobStatus.INTERRUPTED, JobStatus.CANCELLED}:
            _show_again_button(job)
        _show_new_button(job, delivery)
        if job.status is JobStatus.FAILED and outcome is not None and outcome.refusals and outcome.available:
            st.button(
                "Generate without invalid records",
                key=f"rest-{job.number}",
                on_click=run_action,
                args=(_start_generation, replace(request, skip_bad=True), person),
                kwargs={"notice_key": "generated"},
            )
    show_notice("generated")
    if outcome is not None:
        _show_counts(outcome, request)
    if has_file:
        _show_questions(job, delivery)


def _show_buttons(
    job: Job,
    request: generation_job.GenerationRequest,
    delivery: Delivery,
    person: Person,
    *,
    questions: int,
) -> None:
    import_column, all_column, other_column = st.columns(3)
    if import_column.button(
        "Preview import",
        key=f"import-{job.number}",
        type="secondary" if request.is_pilot else "primary",
        disabled=not questions,
        width="stretch",
    ):
        run_action(_deliver_to_import, delivery, person, notice_key="generated")
        if state.get_selection("delivery") == delivery:
            go_to("pages/import_questions.py")
    if request.is_pilot:
        all_column.button(
            "Generate for all exams",
            key=f"all-{job.number}",
            on_click=run_action,
            args=(_generate_all, job, request, person),
            kwargs={"notice_key": "generated"},
            type="primary",
            width="stretch",
        )
    with other_column:
        _show_new_button(job, delivery)


def _show_new_button(job: Job, delivery: Delivery) -> None:
    st.button(
        "Discard" if delivery.path.exists() else "Generate other questions",
        key=f"discard-{job.number}",
        on_click=run_action,
        args=(_discard_generation, job),
        kwargs={"notice_key": "generation"},
        width="stretch",
    )


def _show_again_button(job: Job) -> None:
    st.button(
        "Run again",
        key=f"again-{job.number}",
        on_click=run_action,
        args=(job_control.restart_job, job.number),
        kwargs={"notice_key": "generated"},
    )


def _show_counts(
    outcome: generation_job.GenerationOutcome, request: generation_job.GenerationRequest
) -> None:
    if outcome.questions:
        share = 100 * outcome.complete / outcome.exams
        st.markdown(
            f"Exams with {describe_per_exam(request.per_exam)}: {outcome.complete:,} of "
            f"{outcome.exams:,} ({share:.0f} %)."
        )
        left, right = st.columns(2)
        with left:
            show_table([{"Format": name, "Questions": count} for name, count in outcome.formats.items()])
        with right:
            show_table([{"Task": name, "Questions": count} for name, count in outcome.tasks.items()])
    for title, reasons in (
        ("Not built", outcome.not_built),
        ("Findings not used", outcome.unused),
        ("Left out of the source", outcome.ignored),
    ):
        if reasons:
            with st.expander(f"{title}: {sum(reasons.values()):,}"):
                show_table([{"Reason": reason, "Count": count} for reason, count in reasons.items()])
    if outcome.refusals:
        with st.expander(f"Invalid records: {outcome.refused:,}", expanded=not outcome.questions):
            show_refusals(
                [
                    replace(refusal, record=f"{refusal.file} {refusal.record}".strip())
                    for refusal in outcome.refusals
                ],
                total=outcome.refused,
            )


def _show_questions(job: Job, delivery: Delivery) -> None:
    records = list(islice(read_generated_questions(delivery.path), _MAX_SHOWN))
    if not records:
        return
    st.subheader("Questions")
    number = st.number_input(
        f"Question, 1 to {len(records):,}" if len(records) < _MAX_SHOWN else f"Question, first {_MAX_SHOWN}",
        min_value=1,
        max_value=len(records),
        key=f"question-of-{job.number}",
        width=220,
    )
    _show_question(records[int(number) - 1])


def _show_question(generated: GeneratedQuestion) -> None:
    question = generated.question
    task = question.task.label if question.task else "no task"
    boxes = count_text(len(question.boxes), "box", "boxes")
    left, right = st.columns(2, gap="large")
    with left:
        st.caption(escape_markdown(f"{question.id} · {question.format.label} · {task} · {boxes}"))
        show_stem_options_key(question)
        st.markdown(escape_markdown(question.explanation or "No explanation."))
    with right:
        show_provenance(generated.provenance, question.source)
        if generated.report:
            with st.expander("Report", expanded=True):
                show_report(generated.report, generated.provenance)


def _start_generation(request: generation_job.GenerationRequest, person: Person) -> None:
    generation_job.start_generation(request, person)


def _generate_all(job: Job, request: generation_job.GenerationRequest, person: Person) -> None:
    _start_generation(replace(request, is_pilot=False), person)
    discard(generation_job.find_generated_file(job))


def _deliver_to_import(delivery: Delivery, person: Person) -> None:
    """Hand the file to the page Import, unless that page still shows another import."""
    latest = import_job.load_own_latest_import(person)
    if latest is not None and latest.status is not JobStatus.DONE:
        raise Refused("The page Import shows another import. Finish it there, then come back.")
    if latest is not None:
        job_control.dismiss_job(latest.number)
    state.set_selection("delivery", delivery)


def _discard_generation(job: Job) -> None:
    discard(generation_job.find_generated_file(job))
    job_control.dismiss_job(job.number)
