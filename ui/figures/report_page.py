"""Shows the report of a study: the choice of task, raters and model, the figures, and the summary."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError
from domain.jobs import JobStatus
from domain.people import Action, Person
from reader_study.report.checklists import CHECKLIST_TITLES
from reader_study.report.methods import write_methods
from reader_study.report.study_report import StudyReport
from reader_study.service import (
    StudySummary,
    count_report_answers,
    load_report_digest,
    load_stored_report,
)
from release.service import list_releases
from ui.background_jobs.job_status import show_job_message, show_job_progress
from ui.context import current_workspace, read_only_session, require_page
from ui.figures import report_job
from ui.figures.roc_comparison import show_roc_comparison
from ui.figures.sections import SECTIONS
from ui.figures.view import ReportView
from ui.widgets import escape_markdown, page_fragment, run_action, show_notice


def show_report(person: Person, summary: StudySummary) -> None:
    """Show the report on the present answers.

    If the report is not stored yet, show the progress of its computation, or the button that starts it.
    """
    release = _choose_keys(person, summary)
    try:
        with read_only_session() as db:
            digest = load_report_digest(db, by=person, study=summary.study.name, release=release)
        report = load_stored_report(by=person, workspace=current_workspace(), digest=digest)
    except DomainError as error:
        st.info(escape_markdown(str(error)))
        return
    if report is None:
        _show_compute_button(person, summary, release, digest)
        return
    _show_view(summary, digest, report)
    if release is None:
        show_roc_comparison(summary)


def _choose_keys(person: Person, summary: StudySummary) -> str | None:
    """Show the choice of the answer keys. Return the name of a release; None for the keys of the study."""
    with read_only_session() as db:
        names = [
            record.name
            for record in list_releases(db, by=person)
            if record.dataset == summary.study.source.dataset
        ]
    if not names:
        return None
    return st.selectbox(
        "Answer keys",
        [None, *names],
        format_func=lambda name: "as frozen in the study" if name is None else f"release {name}",
        key=f"report-keys-{summary.study.id}-{len(names)}",
        width=420,
        help="The keys of a corrected release score the same answers again. Each report is kept.",
    )


def _show_compute_button(person: Person, summary: StudySummary, release: str | None, digest: str) -> None:
    job = report_job.load_latest_report_job(person, digest)
    if show_job_progress(job):
        return
    if job is not None and job.status is JobStatus.FAILED:
        st.info(escape_markdown(job.message))
    elif job is not None:
        show_job_message(job)
    st.button(
        "Create report",
        key=f"report-compute-{summary.study.id}",
        type="primary",
        on_click=run_action,
        args=(report_job.start_report, person, summary.study.name, release, digest),
        kwargs={"notice_key": "report"},
    )
    show_notice("report")
    with read_only_session() as db:
        answer_count = count_report_answers(db, by=person, study=summary.study.name)
    st.caption(
        "The report covers "
        f"{count_text(answer_count, 'reading or prediction', 'readings and predictions')}. It takes some "
        "seconds and is kept until answers, exclusions or the protocol change."
    )


@page_fragment
def _show_view(summary: StudySummary, digest: str, report: StudyReport) -> None:
    """Show the report as a fragment: a change of a filter does not load the study again."""
    require_page(Action.RUN_STUDY)
    key = f"report-{summary.study.id}"
    models = [result.rater for result in report.tables.overall if result.kind == "model"]
    tasks = list(dict.fromkeys(result.group for result in report.tables.accuracy))
    kinds = [
        kind for kind in ("reader", "model") if kind in {result.kind for result in report.tables.overall}
    ]
    task_column, model_column, kinds_column = st.columns(3)
    task = task_column.selectbox(
        "Task", tasks, key=f"{key}-task", format_func=lambda name: "All tasks" if name == "all" else name
    )
    model = None
    if models:
        protocol_model = report.facts.model
        model = model_column.selectbox(
            "Compared with",
            models,
            index=models.index(protocol_model) if protocol_model in models else 0,
            key=f"{key}-model-{len(models)}",
        )
        report = report.compare_with(model)
    chosen_kinds = kinds_column.pills(
        "Raters",
        kinds,
        selection_mode="multi",
        default=kinds,
        key=f"{key}-kinds-{len(kinds)}",
        format_func=lambda kind: f"{kind}s".capitalize(),
    )
    view = ReportView(
        report=report,
        filtered_report=report.filter_by_kind(chosen_kinds or kinds),
        task=task or tasks[0],
        address=f"/files/study-reports/{digest}",
        query=urlencode({"model": model}) if model else "",
        key=key,
    )
    if report.facts.simulated or any(rater.simulated for rater in report.tables.raters):
        st.warning("Some or all of these raters are simulated.", icon=":material/science:")
    section = st.segmented_control(
        "Figures",
        list(SECTIONS),
        default=next(iter(SECTIONS)),
        key=f"{key}-section",
        label_visibility="collapsed",
    )
    SECTIONS[section or next(iter(SECTIONS))](view)
    _show_summary(view)


def _show_summary(view: ReportView) -> None:
    report = view.report
    st.subheader("Results in words")
    for sentence in report.words:
        st.markdown(escape_markdown(sentence))
    with st.expander("Methods paragraph"):
        for paragraph in write_methods(report):
            st.markdown(escape_markdown(paragraph))
        st.caption("Written from the protocol and the design. Check it, and add what only the authors know.")
    facts = report.facts
    st.caption(
        escape_markdown(
            f"Protocol version {facts.protocol_version}, SHA-256 {facts.protocol_sha256}. Seed "
            f"{facts.settings.seed}, {facts.settings.bootstrap:,} bootstrap resamples, "
            f"{count_text(len(report.tables.exclusions), 'exclusion')}."
        )
    )
    st.markdown(
        f"{view.format_link('All files (ZIP)', 'report.zip')} · {view.format_link('HTML', 'report.html')} · "
        f"{view.format_link('JSON', 'report.json')} · {view.format_link('Methods', 'methods.txt')} · "
        + " · ".join(
            view.format_link(title, f"checklists/{name}.csv") for name, title in CHECKLIST_TITLES.items()
        )
    )
