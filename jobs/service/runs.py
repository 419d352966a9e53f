"""Kinds of jobs, and the interface between a job's function and the worker."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Generic, TypeVar

from sqlalchemy import Engine
from sqlmodel import Session

from domain.errors import DomainError, NotNow
from domain.file_errors import describe_file_error
from domain.jobs import Job, JobProgress, JobStatus
from domain.people import Action, Person
from jobs.encoding import from_json, to_json
from storage.jobs import jobs as job_storage
from storage.unit_of_work import read_only_session

P = TypeVar("P")
T = TypeVar("T")


class JobFailed(DomainError):
    """A job was refused. ``result`` has more details than the text."""

    def __init__(self, text: str, result: object) -> None:
        super().__init__(text)
        self.result = result


class JobCancelled(Exception):
    """The running job was cancelled."""


class LeaseLost(Exception):
    """Another process has taken over the job. This process must not commit its changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind(Generic[P]):
    """A kind of job.

    Attributes:
        name: the stored id, which never changes.
        title: the title in lists of jobs.
        action: the permission that is needed to start, see or cancel the job.
        parameters: the dataclass of the job's parameters, which are stored as JSON.
        run: the function that does the work. It must be safe to run again after a kill at any point: its
            effect and ``JobRun.finish`` are in one transaction, or it continues from a checkpoint.
        resumable: False if it is not safe to run the function again. An interrupted job can then be restarted
            manually.
        max_concurrent: the maximum number of jobs of the kind that one process runs at a time; None for no
            limit.
        failure_prefix: the beginning of an error text, before the reason. It states that there is no result.
    """

    name: str
    title: str
    action: Action
    parameters: type[P]
    run: Callable[[JobRun[P]], None]
    resumable: bool = True
    max_concurrent: int | None = None
    failure_prefix: str = "Not saved."

    def encode(self, parameters: P) -> str:
        return to_json(parameters)

    def decode(self, parameters: str) -> P:
        return from_json(parameters, self.parameters)

    def hash_parameters(self, parameters: P) -> str:
        """Compute the default subject, a hash of the parameters."""
        return hashlib.sha256(self.encode(parameters).encode()).hexdigest()

    def describe_failure(self, error: Exception) -> str:
        """Describe the reason of a failure for the person who started the job."""
        if isinstance(error, NotNow | OSError):
            reason = describe_file_error(error) if isinstance(error, OSError) else str(error)
            return reason if reason.startswith("Not saved") else f"{self.failure_prefix} {reason}"
        if isinstance(error, DomainError):
            return str(error)
        return f"{self.failure_prefix} The server log gives the reason."


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutcome:
    """The status, message and result with which a job ended."""

    status: JobStatus
    message: str
    result: str | None
    ended_at: datetime


class JobRun(Generic[P]):
    """One run of a job; the interface of the job's function to the worker.

    Attributes:
        owner: the person who started the job, with their current roles. Pass it to services as ``by``.
        progress: the latest reported progress.
        outcome: the outcome of the job until it is stored in the database.
    """

    def __init__(
        self,
        kind: JobKind[P],
        job: Job,
        owner: Person,
        *,
        worker: str,
        clock: Callable[[], datetime],
        engine: Engine | None,
        transaction: Callable[[], AbstractContextManager[Session]],
    ) -> None:
        self.kind, self.job, self.owner = kind, job, owner
        self.progress = job.progress if job.checkpoint else JobProgress()
        self.outcome: JobOutcome | None = None
        self._worker, self._engine = worker, engine
        self.now, self.transaction = clock, transaction
        self.cancelled, self.lease_lost = threading.Event(), threading.Event()

    @cached_property
    def parameters(self) -> P:
        """The parameters of the job."""
        return self.kind.decode(self.job.parameters)

    def report_progress(self, done: int, total: int, unit: str = "", *, note: str = "") -> None:
        """Report progress; see :class:`domain.jobs.JobProgress`. This is fast, so call it often.

        Raises:
            JobCancelled: the job was cancelled; do not catch this error.
            LeaseLost: another process has taken over the job; do not catch this error.
        """
        self.progress = JobProgress(done=done, total=total, unit=unit, note=note)
        self.raise_if_cancelled()

    @property
    def worker_name(self) -> str:
        """A name of this run that no other run has, for leases within the job."""
        return f"job {self.job.number} {self.job.attempts}"

    def should_stop(self) -> bool:
        """Whether the job was cancelled or taken over. Poll it where an error would lose work."""
        return self.cancelled.is_set() or self.lease_lost.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise an error if the job was cancelled or taken over.

        Raises:
            JobCancelled: the job was cancelled.
            LeaseLost: another process has taken over the job.
        """
        if self.lease_lost.is_set():
            raise LeaseLost
        if self.cancelled.is_set():
            raise JobCancelled

    def read_session(self) -> AbstractContextManager[Session]:
        """Open a read-only session."""
        return read_only_session(self._engine)

    def load_checkpoint(self, as_type: type[T]) -> T | None:
        """Load the checkpoint of an earlier attempt; None if there is no checkpoint."""
        return from_json(self.job.checkpoint, as_type) if self.job.checkpoint else None

    def save_checkpoint(self, db: Session, value: object) -> None:
        """Store a checkpoint, in the same transaction as the work that was done up to that point.

        Raises:
            LeaseLost: another process has taken over the job.
        """
        is_still_owner = job_storage.save_checkpoint(
            db, number=self.job.number, worker=self._worker, checkpoint=to_json(value)
        )
        if not is_still_owner:
            raise LeaseLost

    def finish(self, db: Session, message: str, result: object = None) -> None:
        """Store that the job is done, in the same transaction as its effect.

        Raises:
            LeaseLost: another process has taken over the job; the transaction must not be committed.
        """
        outcome = JobOutcome(
            status=JobStatus.DONE,
            message=message,
            result=None if result is None else to_json(result),
            ended_at=self.now(),
        )
        if not self.save_outcome(db, outcome):
            raise LeaseLost

    def save_outcome(self, db: Session, outcome: JobOutcome) -> bool:
        """Store the outcome; return False if the job no longer belongs to this worker."""
        return job_storage.finish_job(
            db,
            number=self.job.number,
            worker=self._worker,
            status=outcome.status,
            progress=self.progress,
            message=outcome.message,
            result=outcome.result,
            now=outcome.ended_at,
        )
