"""The background job that runs the checks of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

from domain.jobs import Job
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from quality.service import finish_run, run_checks
from ui.background_jobs import job_control


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksRequest:
    """The parameters of the job: the name of the dataset."""

    dataset: str


def start_checks(person: Person, dataset: str) -> None:
    """Start the checks that are due in a dataset. If that job is already active, do nothing."""
    job_control.start_job(CHECKS_JOB, ChecksRequest(dataset=dataset), by=person, subject=dataset)


def load_latest_checks(person: Person, dataset: str) -> Job | None:
    """Return the latest job of any person for the dataset; None if there is none or it was dismissed."""
    return job_control.load_latest_job(CHECKS_JOB, by=person, subject=dataset)


def _run(job: JobRun[ChecksRequest]) -> None:
    run = run_checks(
        by=job.owner,
        dataset=job.parameters.dataset,
        clock=job.now,
        progress=lambda done, total: job.report_progress(done, total, "questions"),
        read_session=job.read_session,
        transaction=job.transaction,
    )
    with job.transaction() as db:
        finish_run(db, by=job.owner, run=run, now=job.now())
        job.finish(db, run.message)


CHECKS_JOB = JobKind(
    name="checks",
    title="Checks of questions",
    action=Action.IMPORT_QUESTIONS,
    parameters=ChecksRequest,
    run=_run,
    failure_prefix="The checks stopped.",
)
