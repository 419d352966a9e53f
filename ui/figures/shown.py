"""A report on the page: its sentences, a choice of task, raters and model, and its figures."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.errors import DomainError
from domain.jobs import JobStatus
from domain.people import Action, Person
from reader_study.report.study_report import StudyReport
from reader_study.service import ReportState, StudySummary, kept_report, report_state
from ui.background_jobs.shown import show_message, show_progress
from ui.context import current_workspace, reading, require_page
from ui.figures import computing
from ui.figures.sections import SECTIONS
from ui.figures.view import View
from ui.parts import act, notices, plain, screen


def show_report(person: Person, summary: StudySummary) -> None:
    """Draw the report over the present answers.

    If it is not stored yet, draw the progress of its computation, or the button that starts it.
    """
    with reading() as db:
        state = report_state(db, by=person, study=summary.study.name)
    try:
        report = kept_report(by=person, workspace=current_workspace(), digest=state.digest)
    except DomainError as error:
        st.info(plain(str(error)))
        return
    if report is None:
        _to_compute(person, summary, state)
        return
    _show(summary, state.digest, report)


def _to_compute(person: Person, summary: StudySummary, state: ReportState) -> None:
    job = computing.latest(person, state)
    if show_progress(job):
        return
    notices("report")
    if job is not None and job.status is JobStatus.FAILED:
        st.info(plain(job.message))
    elif job is not None:
        show_message(job)
    st.button(
        "Compute the figures",
        key=f"report-compute-{summary.study.id}",
        type="primary",
        on_click=act,
        args=(computing.start, person, summary.study.name, state),
        kwargs={"place": "report"},
    )
    st.caption(
        f"Over the {state.answers:,} readings and predictions that are in now. It takes some seconds, once: "
        "the report is kept until an answer, an exclusion or the protocol changes."
    )


@screen
def _show(summary: StudySummary, digest: str, report: StudyReport) -> None:
    """Draw the report as a fragment.

    A change of a filter redraws figures; it does not load the study again.
    """
    require_page(Action.RUN_STUDY)
    key = f"report-{summary.study.id}"
    models = [each.rater for each in report.tables.overall if each.kind == "model"]
    tasks = list(dict.fromkeys(each.group for each in report.tables.accuracy))
    kinds = [each for each in ("reader", "model") if each in {x.kind for x in report.tables.overall}]
    one, two, three = st.columns(3)
    task = one.selectbox(
        "Task", tasks, key=f"{key}-task", format_func=lambda each: "all tasks" if each == "all" else each
    )
    model = None
    if models:
        default = report.facts.model
        model = two.selectbox(
            "Compared with",
            models,
            index=models.index(default) if default in models else 0,
            key=f"{key}-model-{len(models)}",
        )
        report = report.against(model)
    shown = three.pills(
        "Raters",
        kinds,
        selection_mode="multi",
        default=kinds,
        key=f"{key}-kinds-{len(kinds)}",
        format_func=lambda each: f"{each}s",
    )
    view = View(
        report=report,
        chosen=report.of_kinds(shown or kinds),
        task=task or tasks[0],
        address=f"/files/study-reports/{digest}",
        query=urlencode({"model": model}) if model else "",
        key=key,
    )
    _words(view)
    section = st.segmented_control(
        "Figures",
        list(SECTIONS),
        default=next(iter(SECTIONS)),
        key=f"{key}-section",
        label_visibility="collapsed",
    )
    SECTIONS[section or next(iter(SECTIONS))](view)


def _words(view: View) -> None:
    report = view.report
    for sentence in report.words:
        st.markdown(plain(sentence))
    facts = report.facts
    st.caption(
        plain(
            f"Protocol version {facts.protocol_version}, SHA-256 {facts.protocol_sha256}. Seed "
            f"{facts.settings.seed}, {facts.settings.bootstrap:,} draws, "
            f"{len(report.tables.exclusions):,} exclusions."
        )
    )
    st.markdown(
        f"{view.link('All files (ZIP)', 'report.zip')} · {view.link('HTML', 'report.html')} · "
        f"{view.link('JSON', 'report.json')}"
    )
