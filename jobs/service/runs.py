"""Kinds of jobs, and one job as the function that does it sees it."""

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
from domain.file_errors import file_trouble
from domain.jobs import Job, JobProgress, JobStatus
from domain.people import Action, Person
from jobs.encoding import from_json, to_json
from storage.jobs import jobs as stored
from storage.unit_of_work import reading

P = TypeVar("P")
T = TypeVar("T")


class JobFailed(DomainError):
    """Raised by a job that was refused, with a ``result`` that says more than the text."""

    def __init__(self, text: str, result: object) -> None:
        super().__init__(text)
        self.result = result


class JobCancelled(Exception):
    """Somebody has cancelled the job that is running."""


class LeaseLost(Exception):
    """Another process has taken the job over; what this one is doing must not be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind(Generic[P]):
    """A kind of job.

    Attributes:
        name: the stored id, which never changes.
        title: for lists of jobs.
        action: what a person must be allowed to do to start, see or cancel it.
        parameters: a dataclass of what is asked for; it is stored as JSON.
        run: does the work. It must be safe to run again after a kill at any point: its effect and
            ``JobRun.finish`` belong in one transaction, or it continues from a checkpoint.
        resumable: False where it is not; such a job is offered to be run again by hand.
        at_once: how many of the kind one process runs at a time; None is as many as there are.
        failure: says that nothing came of it, before the reason.
    """

    name: str
    title: str
    action: Action
    parameters: type[P]
    run: Callable[[JobRun[P]], None]
    resumable: bool = True
    at_once: int | None = None
    failure: str = "Not saved."

    def encode(self, parameters: P) -> str:
        return to_json(parameters)

    def decode(self, parameters: str) -> P:
        return from_json(parameters, self.parameters)

    def subject_of(self, parameters: P) -> str:
        """The default subject: a hash of the parameters."""
        return hashlib.sha256(self.encode(parameters).encode()).hexdigest()

    def failure_text(self, error: Exception) -> str:
        """Why a job ended without a result, for the person who started it."""
        if isinstance(error, NotNow | OSError):
            reason = file_trouble(error) if isinstance(error, OSError) else str(error)
            return reason if reason.startswith("Not saved") else f"{self.failure} {reason}"
        if isinstance(error, DomainError):
            return str(error)
        return f"{self.failure} The server's log says why."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a job ended."""

    status: JobStatus
    message: str
    result: str | None
    at: datetime


class JobRun(Generic[P]):
    """A job as the function that does it sees it.

    Attributes:
        owner: who started it, with the roles of this moment: give it to services as ``by``.
        progress: what was reported last.
        ending: how it ended, until that is written.
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
        self.ending: Ending | None = None
        self._worker, self._engine = worker, engine
        self.now, self.transaction = clock, transaction
        self.cancelled, self.lost = threading.Event(), threading.Event()

    @cached_property
    def parameters(self) -> P:
        """What was asked for."""
        return self.kind.decode(self.job.parameters)

    def report(self, done: int, total: int, unit: str = "", *, note: str = "") -> None:
        """Say how much is done; see :class:`domain.jobs.JobProgress`. Costs nothing, so call it often.

        Raises:
            JobCancelled, LeaseLost: the job must stop; let it pass.
        """
        self.progress = JobProgress(done=done, total=total, unit=unit, note=note)
        self.raise_if_cancelled()

    def raise_if_cancelled(self) -> None:
        """Stop here if somebody has cancelled the job."""
        if self.lost.is_set():
            raise LeaseLost
        if self.cancelled.is_set():
            raise JobCancelled

    def reading(self) -> AbstractContextManager[Session]:
        """A session that reads."""
        return reading(self._engine)

    def checkpoint(self, as_type: type[T]) -> T | None:
        """Where an earlier attempt got to; None at the first."""
        return from_json(self.job.checkpoint, as_type) if self.job.checkpoint else None

    def save_checkpoint(self, db: Session, value: object) -> None:
        """Write down where to continue, in the transaction of what was done up to there."""
        held = stored.save_checkpoint(
            db, number=self.job.number, worker=self._worker, checkpoint=to_json(value)
        )
        if not held:
            raise LeaseLost

    def finish(self, db: Session, message: str, result: object = None) -> None:
        """End the job as done, in the transaction of its effect: both are kept, or neither.

        Raises:
            LeaseLost: another process has the job; the transaction must not be committed.
        """
        ending = Ending(
            status=JobStatus.DONE,
            message=message,
            result=None if result is None else to_json(result),
            at=self.now(),
        )
        if not self.write_end(db, ending):
            raise LeaseLost

    def write_end(self, db: Session, ending: Ending) -> bool:
        """Write how the job ended; False where it is no longer this worker's."""
        return stored.end_job(
            db,
            number=self.job.number,
            worker=self._worker,
            status=ending.status,
            progress=self.progress,
            message=ending.message,
            result=ending.result,
            now=ending.at,
        )
