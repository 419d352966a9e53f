"""Services for starting, listing, cancelling and dismissing jobs.

Jobs are not in the audit trail. The service that changes data on behalf of a job records the change.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlmodel import Session

from domain.errors import NotFound
from domain.jobs import Job
from domain.people import Action, Person, require
from jobs.service.runs import JobKind
from storage.jobs import jobs as job_storage

P = TypeVar("P")


def start_job(  # allow writes-without-record: changes by the job are recorded when they are made
    db: Session,
    *,
    by: Person,
    kind: JobKind[P],
    parameters: P,
    subject: str | None = None,
    now: datetime,
) -> tuple[Job, bool]:
    """Put a job into the queue, unless a job of the same kind and subject is active.

    Args:
        subject: what the job is about; by default a hash of the parameters.

    Returns:
        The new or the active job, and whether it is new.
    """
    require(by, kind.action)
    subject = subject or kind.hash_parameters(parameters)
    while True:
        job = job_storage.add_job(
            db,
            kind=kind.name,
            subject=subject,
            action=kind.action,
            owner_id=by.id or None,
            parameters=kind.encode(parameters),
            now=now,
        )
        if job is not None:
            return job, True
        job = job_storage.find_latest_job(db, kind=kind.name, subject=subject)
        if job is not None and job.is_active:
            return job, False


def queue_system_job(
    db: Session,
    *,
    kind: JobKind[P],
    subject: str,
    parameters: P,
    merge: Callable[[P, P], P],
    not_before: datetime,
    now: datetime,
) -> Job:
    """Queue a job of the app itself, or add ``parameters`` to a job of that subject that still waits.

    The job has no owner, and the person whose action queues it needs no permission. A worker of an app takes
    it at ``not_before`` or some seconds later.

    Args:
        subject: the subject without the time. The time is added, because one job of a subject may wait while
            another runs.
        merge: merges the parameters of the waiting job (first argument) with ``parameters``.
    """
    waiting_job = job_storage.find_waiting_job(db, kind=kind.name, subject_prefix=f"{subject} ")
    if waiting_job is not None:
        merged = kind.encode(merge(kind.decode(waiting_job.parameters), parameters))
        return job_storage.replace_parameters(db, number=waiting_job.number, parameters=merged)
    while True:
        job = job_storage.add_job(
            db,
            kind=kind.name,
            subject=f"{subject} {not_before.isoformat()}",
            action=kind.action,
            owner_id=None,
            parameters=kind.encode(parameters),
            not_before=not_before,
            now=now,
        )
        if job is not None:
            return job
        not_before += timedelta(microseconds=1)  # another transaction has just used this subject


def restart_job(  # allow writes-without-record: as start_job
    db: Session, *, by: Person, number: int, now: datetime
) -> Job:
    """Start a job with the parameters of a finished job. If such a job is already active, return it.

    Raises:
        NotFound: no job has this number, or the person may not see it.
    """
    finished = load_job(db, by=by, number=number)
    restarted = job_storage.add_job(
        db,
        kind=finished.kind,
        subject=finished.subject,
        action=finished.action,
        owner_id=by.id or None,
        parameters=finished.parameters,
        now=now,
    )
    return (
        restarted or job_storage.find_latest_job(db, kind=finished.kind, subject=finished.subject) or finished
    )


def load_latest_job(db: Session, *, by: Person, kind: JobKind[Any], subject: str) -> Job | None:
    """Load the latest job of a kind and subject, whoever started it.

    Return None if there is none, or if it was dismissed.
    """
    require(by, kind.action)
    return _hide_dismissed(job_storage.find_latest_job(db, kind=kind.name, subject=subject))


def load_own_latest_job(db: Session, *, by: Person, kind: JobKind[Any]) -> Job | None:
    """Load the latest job of a kind that the person started; None if there is none or it was dismissed."""
    require(by, kind.action)
    return _hide_dismissed(job_storage.find_latest_job(db, kind=kind.name, owner_id=by.id))


def _hide_dismissed(job: Job | None) -> Job | None:
    return None if job is None or job.dismissed else job


def list_jobs(
    db: Session,
    *,
    by: Person,
    kind: JobKind[Any] | None = None,
    active_only: bool = False,
    limit: int = 50,
) -> list[Job]:
    """List the jobs that the person may see, the latest first; only those of ``kind`` if it is given."""
    actions = [action for action in Action if by.may(action)]
    return job_storage.list_jobs(
        db, actions=actions, kind=kind.name if kind else None, active_only=active_only, limit=limit
    )


def load_job(db: Session, *, by: Person, number: int) -> Job:
    """Load one job.

    Raises:
        NotFound: no job has this number, or the person may not see it.
    """
    job = job_storage.find_job(db, number=number)
    if job is None or not by.may(job.action):
        raise NotFound(f"There is no job {number}.")
    return job


def cancel_job(  # allow writes-without-record: a job that is cancelled changes nothing
    db: Session, *, by: Person, number: int, now: datetime
) -> Job:
    """Cancel a job. A running job stops at its next progress report. A finished job does not change.

    Raises:
        NotFound: no job has this number, or the person may not see it.
    """
    load_job(db, by=by, number=number)
    job_storage.request_cancel(db, number=number, now=now)
    return job_storage.load_job(db, number=number)


def dismiss_job(  # allow writes-without-record: only its display changes
    db: Session, *, by: Person, number: int
) -> None:
    """Stop showing a job and its result.

    Raises:
        NotFound: no job has this number, or the person may not see it.
    """
    load_job(db, by=by, number=number)
    job_storage.dismiss_job(db, number=number)
