"""The background job of the page Compliance."""

from __future__ import annotations

from dataclasses import dataclass

from domain.count_texts import count_text
from domain.jobs import Job
from domain.people import Action, Person
from jobs.encoding import from_json
from jobs.service import JobKind, JobRun
from quality.service import ComplianceReport, examine_compliance
from ui.background_jobs import job_control


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplianceRequest:
    """The parameters of the job: the dataset, and the threshold of the text-only stage."""

    dataset: str
    threshold: float


def start_compliance(person: Person, request: ComplianceRequest) -> None:
    """Start the job. If a job of the dataset is already active, do nothing."""
    job_control.start_job(COMPLIANCE, request, by=person, subject=request.dataset)


def load_latest_compliance_job(person: Person, dataset: str) -> Job | None:
    """Return the latest job of any person for the dataset; None if there is none or it was dismissed."""
    return job_control.load_latest_job(COMPLIANCE, by=person, subject=dataset)


def read_report(job: Job | None) -> ComplianceReport | None:
    """Return the report of a job that is done; otherwise None."""
    return from_json(job.result, ComplianceReport) if job is not None and job.result else None


def _run(job: JobRun[ComplianceRequest]) -> None:
    report = examine_compliance(
        by=job.owner,
        dataset=job.parameters.dataset,
        threshold=job.parameters.threshold,
        clock=job.now,
        progress=lambda done, total: job.report_progress(done, total, "steps"),
        read_session=job.read_session,
        transaction=job.transaction,
    )
    message = f"{report.stages[-1].remaining:,} of {count_text(report.questions, 'question')} pass "
    message += f"{count_text(len(report.stages), 'stage')}." if report.text_only_note else "all stages."
    with job.transaction() as db:
        job.finish(db, message, report)


COMPLIANCE = JobKind(
    name="compliance",
    title="Compliance",
    action=Action.IMPORT_QUESTIONS,
    parameters=ComplianceRequest,
    run=_run,
    failure_prefix="The stages stopped.",
)
