"""Jobs: long tasks that are stored in the database, so that they survive reloads and restarts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.people import Action


class JobStatus(StrEnum):
    """The status of a job. QUEUED and RUNNING are active; the others are final.

    INTERRUPTED: the server stopped while the job was running, and the job was not continued.
    """

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_active(self) -> bool:
        """Whether the job is queued or running."""
        return self in ACTIVE_STATUSES


ACTIVE_STATUSES = (JobStatus.QUEUED, JobStatus.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """The progress of a job: ``done`` of ``total`` units, with a ``note``.

    ``unit`` is a plural noun ("questions"). It is empty if ``done`` and ``total`` only define a share.
    ``total`` is 0 while it is unknown.

    >>> JobProgress(done=1200, total=5000, unit="questions").text
    '1,200 of 5,000 questions'
    >>> JobProgress(done=38, total=100, note="12 records read").text
    '38% · 12 records read'
    """

    done: int = 0
    total: int = 0
    unit: str = ""
    note: str = ""

    @property
    def share(self) -> float:
        """The share that is done, 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def text(self) -> str:
        """The progress as one line for the user."""
        if not self.total:
            return self.note or "Starting …"
        amount = f"{self.done:,} of {self.total:,} {self.unit}" if self.unit else f"{self.share:.0%}"
        return f"{amount} · {self.note}" if self.note else amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One long task.

    Attributes:
        number: the id of the job in the database.
        kind: the name of the function that runs the job; see ``JobKind``.
        subject: the object of the job. Only one job of a kind and subject is active at a time.
        action: the permission that is needed to see and cancel the job.
        owner_id: the id of the person who started the job; None for the command line and the app itself.
        parameters: the parameters of the job, as JSON.
        checkpoint: the point where an interrupted job continues, as JSON.
        message: the outcome or the reason of a failure, as text for the user.
        result: details of the outcome, as JSON.
        attempts: the number of times that the job was started.
        worker: the process that runs the job; its lease ends at ``lease_until``.
        not_before: the time before which no worker takes the job; None if it may start at once.
        started_at: the start of the current attempt.
    """

    number: int
    kind: str
    subject: str
    action: Action
    owner_id: int | None
    parameters: str
    status: JobStatus
    progress: JobProgress
    checkpoint: str | None
    message: str
    result: str | None
    attempts: int
    cancel_requested: bool
    dismissed: bool
    worker: str | None
    lease_until: datetime | None
    not_before: datetime | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def is_active(self) -> bool:
        """Whether the job is queued or running."""
        return self.status.is_active

    def units_per_second(self, now: datetime) -> float | None:
        """Return the average rate since the current attempt started; None in its first 3 seconds.

        The rate is also None for a job that continued from a checkpoint, because part of its progress was
        made by an earlier attempt.
        """
        if self.started_at is None or (self.checkpoint is not None and self.attempts > 1):
            return None
        seconds = (now - self.started_at).total_seconds()
        return self.progress.done / seconds if seconds >= 3 and self.progress.done else None

    def seconds_left(self, now: datetime) -> float | None:
        """Estimate the remaining time in seconds from the average rate; None if the rate is unknown."""
        rate = self.units_per_second(now)
        return (self.progress.total - self.progress.done) / rate if rate and self.progress.total else None
