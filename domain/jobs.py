"""A job: long work that is kept in the database, so that it survives a reload, a restart and a second tab."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.people import Action


class JobStatus(StrEnum):
    """Where a job is. QUEUED and RUNNING are active; the others are final.

    INTERRUPTED: the server stopped while the job was running, and the job was not taken up again.
    """

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_active(self) -> bool:
        """Whether the job waits or runs."""
        return self in ACTIVE_STATUSES


ACTIVE_STATUSES = (JobStatus.QUEUED, JobStatus.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """How much of a job is done: ``done`` of ``total`` units, with a ``note`` beside it.

    ``unit`` is a plural noun ("questions"); it is empty where ``done`` and ``total`` only give a share.
    ``total`` is 0 before anything is known.

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
        """One line for the person who waits."""
        if not self.total:
            return self.note or "Starting …"
        amount = f"{self.done:,} of {self.total:,} {self.unit}" if self.unit else f"{self.share:.0%}"
        return f"{amount} · {self.note}" if self.note else amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of long work.

    Attributes:
        number: the job's number in the database.
        kind: which function does it; see ``JobKind``.
        subject: what it is about. Only one job of a kind and subject is active at a time.
        action: people with this permission can see and cancel the job.
        owner_id: who started it; None is the command line.
        parameters: what was asked for, as JSON.
        checkpoint: where an interrupted job continues, as JSON.
        message: what came of it, or why nothing did; can be shown as it is.
        result: details of the outcome, as JSON.
        attempts: how often the job was started.
        worker: the process that runs it, which holds it until ``lease_until``.
        started_at: when the present attempt started.
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
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def is_active(self) -> bool:
        """Whether the job waits or runs."""
        return self.status.is_active

    def units_per_second(self, now: datetime) -> float | None:
        """The average since the present attempt started; None in its first 3 seconds.

        None as well for a job that continued from a checkpoint: part of its progress is from before.
        """
        if self.started_at is None or (self.checkpoint is not None and self.attempts > 1):
            return None
        seconds = (now - self.started_at).total_seconds()
        return self.progress.done / seconds if seconds >= 3 and self.progress.done else None

    def seconds_left(self, now: datetime) -> float | None:
        """The remaining time at the present rate; None where that is not known."""
        rate = self.units_per_second(now)
        return (self.progress.total - self.progress.done) / rate if rate and self.progress.total else None
