"""Services for background jobs, for pages and commands. No other module accesses the storage of jobs."""

from typing import TYPE_CHECKING

from domain.lazy_imports import import_on_use

if TYPE_CHECKING:
    from jobs.service.jobs import (
        cancel_job,
        dismiss_job,
        list_jobs,
        load_job,
        load_latest_job,
        load_own_latest_job,
        queue_system_job,
        restart_job,
        start_job,
    )
    from jobs.service.runs import JobCancelled, JobFailed, JobKind, JobRun, LeaseLost
    from jobs.service.worker import LEASE_DURATION, Worker
else:
    __getattr__ = import_on_use(__name__)

__all__ = [
    "LEASE_DURATION",
    "JobCancelled",
    "JobFailed",
    "JobKind",
    "JobRun",
    "LeaseLost",
    "Worker",
    "cancel_job",
    "dismiss_job",
    "list_jobs",
    "load_job",
    "load_latest_job",
    "load_own_latest_job",
    "queue_system_job",
    "restart_job",
    "start_job",
]
