"""The services of background jobs, for pages and commands. Only they access the storage of jobs."""

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
