"""Starts and controls jobs for pages, and provides the worker that runs jobs in this process."""

from __future__ import annotations

import os
import secrets
import socket
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from domain.jobs import ACTIVE_STATUSES, Job
from domain.people import Person
from jobs import service as jobs
from jobs.service import LEASE_DURATION, JobKind
from ui.context import clock, current_person, read_only_session, unit_of_work

P = TypeVar("P")

#: The module and the constant of each kind of job. The module is imported when the kind is first needed.
_KIND_LOCATIONS = {
    "import": "ui.imports.import_job:IMPORT",
    "generation": "ui.question_generation.generation_job:GENERATION",
    "search index": "ui.search.index_job:INDEX",
    "checks": "ui.problems.check_job:CHECKS_JOB",
    "duplicates": "ui.duplicates.jobs:DUPLICATES",
    "calibration": "ui.duplicates.jobs:CALIBRATION",
    "compliance": "ui.compliance.compliance_job:COMPLIANCE",
    "search texts": "ui.patients.search_jobs:SEARCH_TEXTS",
    "rank images": "ui.patients.search_jobs:RANK_IMAGES",
    "release": "ui.releases.release_job:RELEASE",
    "training data": "ui.releases.training_data:TRAINING_DATA",
    "study report": "ui.figures.report_job:REPORT",
    "predictions": "ui.studies.predictions:PREDICTIONS",
    "readings": "ui.studies.external_readings:READINGS",
    "mail": "notifications.service:MAIL",
    "checkpoint": "ui.background_jobs.checkpoint_job:CHECKPOINT",
    "evaluation": "evaluation.service:EVALUATION",
    "evaluation plan": "evaluation.service:EVALUATION_PLAN",
    "jury": "quality.service:JURY",
    "model scores": "evaluation.service:MODEL_SCORES",
    "model run": "language_models.service:MODEL_RUN",
}
#: Seconds that a click waits for its job. A job that ends within this time shows no progress.
_QUICK_JOB_SECONDS = 0.5


def find_job_kind(name: str) -> JobKind[Any] | None:
    """Return the kind of job with that name; None if this version of the app does not define it."""
    if name not in _KIND_LOCATIONS:
        return None
    module, _, constant = _KIND_LOCATIONS[name].partition(":")
    kind: JobKind[Any] = getattr(import_module(module), constant)
    return kind


@cache
def worker() -> jobs.Worker:
    """Return the worker of this process; it is created by the first call."""
    name = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
    return jobs.Worker(name, find_job_kind, clock=clock)


def start_job(kind: JobKind[P], parameters: P, *, by: Person, subject: str | None = None) -> Job:
    """Start a job. If a job of that kind and subject is active, return that job instead.

    A double click therefore starts only one job.
    """
    with unit_of_work() as db:
        job, _ = jobs.start_job(db, by=by, kind=kind, parameters=parameters, subject=subject, now=clock())
    worker().run(job, wait=_QUICK_JOB_SECONDS)
    return job


def restart_job(number: int) -> None:
    """Start a failed or interrupted job again."""
    with unit_of_work() as db:
        job = jobs.restart_job(db, by=current_person(), number=number, now=clock())
    worker().run(job, wait=_QUICK_JOB_SECONDS)


def load_latest_job(kind: JobKind[Any], *, by: Person, subject: str) -> Job | None:
    """Return the latest job of any person about the subject; None if there is none or it was dismissed."""
    with read_only_session() as db:
        job = jobs.load_latest_job(db, by=by, kind=kind, subject=subject)
    return worker().with_live_state(job) if job else None


def is_active(kind: JobKind[Any], *, by: Person, subject: str) -> bool:
    """Whether a job of that kind about the subject is queued or running."""
    job = load_latest_job(kind, by=by, subject=subject)
    return job is not None and job.status in ACTIVE_STATUSES


def load_own_latest_job(kind: JobKind[Any], *, by: Person) -> Job | None:
    """Return the person's latest job of that kind; None if there is none or it was dismissed."""
    with read_only_session() as db:
        job = jobs.load_own_latest_job(db, by=by, kind=kind)
    return worker().with_live_state(job) if job else None


def reload_job(number: int) -> Job:
    """Return the current state of a job."""
    with read_only_session() as db:
        return worker().with_live_state(jobs.load_job(db, by=current_person(), number=number))


def is_unresponsive(job: Job) -> bool:
    """Whether the process that runs the job has not renewed its lease for several seconds.

    That process was probably killed.
    """
    if job.lease_until is None or worker().is_running(job.number):
        return False
    return job.lease_until - clock() < LEASE_DURATION / 2


def cancel_job(number: int) -> None:
    """Cancel a job.

    A job of this process is cancelled in memory, because its transaction may block writes to the database.
    """
    by = current_person()
    with read_only_session() as db:
        jobs.load_job(db, by=by, number=number)
    if not worker().cancel(number):
        with unit_of_work() as db:
            jobs.cancel_job(db, by=by, number=number, now=clock())


def dismiss_job(number: int) -> None:
    """Remove the outcome of a job from the pages."""
    with unit_of_work() as db:
        jobs.dismiss_job(db, by=current_person(), number=number)
