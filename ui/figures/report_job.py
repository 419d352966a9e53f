"""The background job that computes the report of a reader study.

A process computes only one report at a time, because the computation keeps the processor busy while other
people read cases.
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.jobs import Job
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from reader_study.service import compute_report, load_report_data, load_report_digest
from ui.background_jobs import job_control
from ui.context import current_workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """The parameters of the job. ``release`` has the keys that count; None for the keys of the study."""

    study: str
    release: str | None = None


def start_report(person: Person, study: str, release: str | None, digest: str) -> None:
    """Start computing the report. If that job is already active, do nothing.

    Two people, or the two clicks of a double click, therefore share one report.
    """
    job_control.start_job(REPORT, ReportRequest(study=study, release=release), by=person, subject=digest)


def load_latest_report_job(person: Person, digest: str) -> Job | None:
    """Return the latest job for the report with that digest, of any person; None if there is none."""
    return job_control.load_latest_job(REPORT, by=person, subject=digest)


def _run(job: JobRun[ReportRequest]) -> None:
    def report_progress(share: float) -> None:
        job.report_progress(round(1000 * share), 1000, note="Computing accuracies, agreement and comparisons")

    report_progress(0.0)
    with job.read_session() as db:
        study, release = job.parameters.study, job.parameters.release
        digest = load_report_digest(db, by=job.owner, study=study, release=release)
        data = load_report_data(db, by=job.owner, study=study, release=release)
    compute_report(workspace=current_workspace(), digest=digest, data=data, progress=report_progress)


REPORT = JobKind(
    name="study report",
    title="Report of a reader study",
    action=Action.RUN_STUDY,
    parameters=ReportRequest,
    run=_run,
    max_concurrent=1,
    failure_prefix="The report could not be computed.",
)
