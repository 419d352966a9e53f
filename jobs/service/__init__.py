"""What the screens and commands ask of jobs; the only door to storage in this stage."""

from jobs.service.jobs import (
    cancel_job,
    dismiss_job,
    job_numbered,
    latest_job,
    list_jobs,
    own_latest_job,
    start_again,
    start_job,
)
from jobs.service.runs import JobCancelled, JobFailed, JobKind, JobRun, LeaseLost
from jobs.service.worker import LEASE, Worker

__all__ = [
    "LEASE",
    "JobCancelled",
    "JobFailed",
    "JobKind",
    "JobRun",
    "LeaseLost",
    "Worker",
    "cancel_job",
    "dismiss_job",
    "job_numbered",
    "latest_job",
    "list_jobs",
    "own_latest_job",
    "start_again",
    "start_job",
]
