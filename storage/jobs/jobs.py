"""Storage of jobs. A worker claims a job with a single UPDATE, so two processes never run the same job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import NotFound
from domain.jobs import Job, JobProgress, JobStatus
from domain.people import Action
from storage.rows.jobs import JobRow
from storage.types import affected_rows


def add_job(
    db: Session,
    *,
    kind: str,
    subject: str,
    action: Action,
    owner_id: int | None,
    parameters: str,
    not_before: datetime | None = None,
    now: datetime,
) -> Job | None:
    """Queue a new job. Return None if a job of that kind and subject is already active."""
    row = JobRow(
        kind=kind,
        subject=subject,
        action=action.value,
        owner_id=owner_id,
        parameters=parameters,
        status=JobStatus.QUEUED.value,
        not_before=not_before,
        created_at=now,
    )
    try:
        with db.begin_nested():  # a savepoint: the caller's transaction continues
            db.add(row)
            db.flush()
    except IntegrityError:
        return None
    return _job_from_row(row)


def find_waiting_job(db: Session, *, kind: str, subject_prefix: str) -> Job | None:
    """Return a job that no worker has claimed yet, and lock it until the end of the transaction.

    Jobs whose cancellation was requested are omitted.
    """
    statement = (
        select(JobRow)
        .where(
            JobRow.kind == kind,
            JobRow.subject.startswith(subject_prefix, autoescape=True),
            JobRow.status == JobStatus.QUEUED.value,
            ~JobRow.cancel_requested,
        )
        .order_by(JobRow.id)
        .limit(1)
        .with_for_update()
    )
    row = db.execute(statement, execution_options={"populate_existing": True}).scalar_one_or_none()
    return _job_from_row(row) if row is not None else None


def replace_parameters(db: Session, *, number: int, parameters: str) -> Job:
    """Replace the parameters of a job that :func:`find_waiting_job` has locked."""
    db.execute(update(JobRow).where(JobRow.id == number).values(parameters=parameters))
    return load_job(db, number=number)


def find_job(db: Session, *, number: int) -> Job | None:
    row = db.get(JobRow, number, populate_existing=True)
    return _job_from_row(row) if row is not None else None


def load_job(db: Session, *, number: int) -> Job:
    """Return the job with that id.

    Raises:
        NotFound: no job has that id.
    """
    job = find_job(db, number=number)
    if job is None:
        raise NotFound(f"There is no job {number}.")
    return job


def find_latest_job(
    db: Session, *, kind: str, subject: str | None = None, owner_id: int | None = None
) -> Job | None:
    """Return the latest job of that kind, filtered by subject and owner if given."""
    conditions = [JobRow.kind == kind]
    if subject is not None:
        conditions.append(JobRow.subject == subject)
    if owner_id is not None:
        conditions.append(JobRow.owner_id == owner_id)
    row = db.execute(
        select(JobRow).where(*conditions).order_by(JobRow.id.desc()).limit(1)
    ).scalar_one_or_none()
    return _job_from_row(row) if row is not None else None


def list_jobs(
    db: Session, *, actions: Sequence[Action], kind: str | None = None, active_only: bool, limit: int
) -> list[Job]:
    """Return the jobs that need one of those permissions, the latest first.

    With ``kind``, return only jobs of that kind.
    """
    conditions: list[ColumnElement[bool]] = [JobRow.action.in_([action.value for action in actions])]
    if kind is not None:
        conditions.append(JobRow.kind == kind)
    if active_only:
        conditions.append(_is_active())
    rows = db.execute(select(JobRow).where(*conditions).order_by(JobRow.id.desc()).limit(limit)).scalars()
    return [_job_from_row(row) for row in rows]


def list_claimable_jobs(db: Session, *, now: datetime) -> list[tuple[int, str]]:
    """Return (id, kind) of the jobs that a worker can claim, the oldest first."""
    rows = db.execute(select(JobRow.id, JobRow.kind).where(_is_claimable(now)).order_by(JobRow.id))
    return [(row.id, row.kind) for row in rows]


def claim_job(db: Session, *, number: int, worker: str, lease_until: datetime, now: datetime) -> Job | None:
    """Assign the job to that worker. Return None if another worker has it or it is finished."""
    result = db.execute(
        update(JobRow)
        .where(JobRow.id == number, _is_claimable(now))
        .values(
            status=JobStatus.RUNNING.value,
            worker=worker,
            lease_until=lease_until,
            started_at=now,
            attempts=JobRow.attempts + 1,
        )
    )
    return load_job(db, number=number) if affected_rows(result) else None


def renew_lease(
    db: Session, *, number: int, worker: str, lease_until: datetime, progress: JobProgress
) -> bool | None:
    """Extend the worker's lease on the job and store its progress.

    Returns:
        Whether its cancellation was requested; None if the job no longer belongs to that worker.
    """
    result = db.execute(
        update(JobRow)
        .where(_is_run_by(number, worker))
        .values(
            lease_until=lease_until,
            done=progress.done,
            total=progress.total,
            unit=progress.unit,
            note=progress.note,
        )
    )
    if not affected_rows(result):
        return None
    return bool(db.execute(select(JobRow.cancel_requested).where(JobRow.id == number)).scalar_one())


def save_checkpoint(db: Session, *, number: int, worker: str, checkpoint: str) -> bool:
    """Store the point from which the job can continue. Return False if the worker no longer has the job."""
    result = db.execute(update(JobRow).where(_is_run_by(number, worker)).values(checkpoint=checkpoint))
    return affected_rows(result) > 0


def finish_job(
    db: Session,
    *,
    number: int,
    worker: str,
    status: JobStatus,
    progress: JobProgress,
    message: str,
    result: str | None,
    now: datetime,
) -> bool:
    """Finish the job; return False if it no longer belongs to that worker."""
    update_result = db.execute(
        update(JobRow)
        .where(_is_run_by(number, worker))
        .values(
            status=status.value,
            done=progress.done,
            total=progress.total,
            unit=progress.unit,
            note=progress.note,
            message=message,
            result=result,
            finished_at=now,
            lease_until=None,
        )
    )
    return affected_rows(update_result) > 0


def end_leases(db: Session, *, worker: str, now: datetime) -> None:
    """End the leases of that worker, so that another process can claim its jobs immediately."""
    db.execute(
        update(JobRow)
        .where(JobRow.worker == worker, JobRow.status == JobStatus.RUNNING.value)
        .values(lease_until=now)
    )


def request_cancel(db: Session, *, number: int, now: datetime) -> None:
    """Cancel the job if no worker runs it; otherwise ask its worker to cancel it."""
    db.execute(
        update(JobRow)
        .where(JobRow.id == number, or_(JobRow.status == JobStatus.QUEUED.value, _is_claimable(now)))
        .values(status=JobStatus.CANCELLED.value, finished_at=now, lease_until=None)
    )
    db.execute(update(JobRow).where(JobRow.id == number, _is_active()).values(cancel_requested=True))


def dismiss_job(db: Session, *, number: int) -> None:
    """Hide the job from the list. An active job stays listed."""
    db.execute(update(JobRow).where(JobRow.id == number, ~_is_active()).values(dismissed=True))


def _is_active() -> ColumnElement[bool]:
    return JobRow.finished_at.is_(None)


def _is_run_by(number: int, worker: str) -> ColumnElement[bool]:
    return and_(JobRow.id == number, JobRow.worker == worker, JobRow.status == JobStatus.RUNNING.value)


def _is_claimable(now: datetime) -> ColumnElement[bool]:
    """Return the condition that the job is queued and due, or that its worker's lease has expired."""
    return or_(
        and_(
            JobRow.status == JobStatus.QUEUED.value,
            or_(JobRow.not_before.is_(None), JobRow.not_before <= now),
        ),
        and_(JobRow.status == JobStatus.RUNNING.value, JobRow.lease_until <= now),
    )


def _job_from_row(row: JobRow) -> Job:
    values: dict[str, Any] = row.model_dump(
        exclude={"id", "action", "status", "done", "total", "unit", "note"}
    )
    return Job(
        number=row.id or 0,
        action=Action(row.action),
        status=JobStatus(row.status),
        progress=JobProgress(done=row.done, total=row.total, unit=row.unit, note=row.note),
        **values,
    )
