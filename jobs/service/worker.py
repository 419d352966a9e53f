"""The worker of a process: takes jobs, runs each in a thread, and keeps its lease on them.

One more thread, the keeper, writes progress down, renews leases, learns of cancellations from other
processes, and takes jobs whose worker is gone. ``JobRun.report`` itself never waits for the database.

On SQLite a job that writes holds the one place to write, and its own lease cannot be renewed meanwhile. The
keeper then pauses. Should another process take the job over afterwards, the first one loses: its effect and
its end are one transaction, which is undone unless the job is still its own.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import Engine
from sqlmodel import Session

from accounts.service import command_line_person
from domain.errors import DomainError, NotNow
from domain.jobs import Job, JobStatus
from jobs.encoding import to_json
from jobs.service.runs import Ending, JobCancelled, JobFailed, JobKind, JobRun, LeaseLost
from storage.accounts.people import load_person
from storage.engine import current_engine
from storage.jobs import jobs as stored
from storage.unit_of_work import reading, unit_of_work

_LOG = logging.getLogger(__name__)
P = TypeVar("P")
T = TypeVar("T")

#: How long a job is kept by a process that is not heard of.
LEASE = timedelta(seconds=30)
#: A job that stopped with its process so often is not taken again: it may be what ends the process.
MOST_ATTEMPTS = 3
#: Seconds: between two looks of the keeper, and between two looks for jobs whose worker is gone.
_KEEP_EVERY, _LOOK_EVERY = 2.0, 5.0
#: Milliseconds that the keeper waits for another writer.
_PATIENCE = 2_000
_INTERRUPTED = "The server stopped while this was running."


class Worker:
    """Runs jobs in threads of this process.

    Args:
        name: no other process has it.
        kind_named: finds a kind by its name; None where this version has no such kind.
        clock: the time.
        engine: the database; None is the one that the environment names.
        lease: how long another process waits before it takes a job over.
    """

    def __init__(
        self,
        name: str,
        kind_named: Callable[[str], JobKind[Any] | None],
        *,
        clock: Callable[[], datetime],
        engine: Engine | None = None,
        lease: timedelta = LEASE,
    ) -> None:
        self.name, self.clock, self.engine = name, clock, engine
        self._kind_named, self._lease = kind_named, lease
        self._runs: dict[int, JobRun[Any]] = {}
        self._threads: dict[int, threading.Thread] = {}
        self._lock, self._taking = threading.Lock(), threading.Lock()
        self._keeper: threading.Thread | None = None
        self._watching = False
        self._stopped = threading.Event()
        self._writing = 0

    def watch(self) -> None:
        """Look for jobs whose worker is gone, too, until :meth:`stop`."""
        self._watching = True
        self._stopped.clear()
        self._start_keeper()

    def stop(self) -> None:
        """Let another process take this one's jobs at once; the threads end with the process."""
        self._watching = False
        for run in self._running():
            run.lost.set()
        self._stopped.set()
        keeper = self._keeper
        if keeper is not None:
            keeper.join(2 * _PATIENCE / 1000)  # what it renews now must not outlast the release below
        try:
            with unit_of_work(self.engine, patience_ms=_PATIENCE) as db:
                stored.release_jobs(db, worker=self.name, now=self.clock())
        except NotNow:
            _LOG.warning("the jobs of this process will be taken over when their lease ends")

    def run(self, job: Job, *, wait: float = 0.0) -> None:
        """Take the job, unless another process has it, and wait so many seconds for its end."""
        self._take(job.number, job.kind)
        thread = self._threads.get(job.number)
        if thread is not None:
            thread.join(wait)

    def wait(self, within: float) -> None:
        """Wait until nothing runs here any more.

        Raises:
            TimeoutError: something still does.
        """
        until = time.monotonic() + within
        while threads := list(self._threads.values()):
            threads[0].join(max(0.0, until - time.monotonic()))
            if time.monotonic() >= until:
                raise TimeoutError(", ".join(thread.name for thread in threads))

    def take_waiting(self) -> None:
        """Take what waits in the queue, or was left by a worker that is gone."""
        with reading(self.engine) as db:
            waiting = stored.waiting_jobs(db, now=self.clock())
        for number, kind in waiting:
            self._take(number, kind)

    def has(self, number: int) -> bool:
        """Whether the job runs in this process."""
        return number in self._runs

    def cancel(self, number: int) -> bool:
        """Cancel the job if it runs here; whether it does. The database is not asked, which may be busy."""
        run = self._runs.get(number)
        if run is None:
            return False
        run.cancelled.set()
        return True

    def seen(self, job: Job) -> Job:
        """The job as this process knows it: its progress a moment ago, its end although not yet written."""
        run = self._runs.get(job.number)
        if run is None or not job.is_active:
            return job
        seen = replace(
            job, progress=run.progress, cancel_requested=job.cancel_requested or run.cancelled.is_set()
        )
        if run.ending is None:
            return seen
        end = run.ending
        return replace(seen, status=end.status, message=end.message, result=end.result, finished_at=end.at)

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        """A unit of work during which the keeper writes nothing, if the database has one writer."""
        one_writer = (self.engine or current_engine()).dialect.name == "sqlite"
        with self._lock:
            self._writing += one_writer
        try:
            with unit_of_work(self.engine) as db:
                yield db
        finally:
            with self._lock:
                self._writing -= one_writer

    def _take(self, number: int, kind_name: str) -> None:
        kind = self._kind_named(kind_name)
        with self._taking:
            if kind is None or self._stopped.is_set() or number in self._runs or self._is_full(kind):
                return
            now = self.clock()
            with unit_of_work(self.engine) as db:
                job = stored.take_job(
                    db, number=number, worker=self.name, lease_until=now + self._lease, now=now
                )
                if job is None:
                    return
                owner = load_person(db, person_id=job.owner_id) if job.owner_id else command_line_person()
                run = JobRun(
                    kind,
                    job,
                    owner,
                    worker=self.name,
                    clock=self.clock,
                    engine=self.engine,
                    transaction=self._transaction,
                )
                ending = self._ending_instead(run, now)
                if ending is not None:
                    run.write_end(db, ending)
                    return
            thread = threading.Thread(
                target=self._carry_out, args=(run,), name=f"job {number} ({kind.name})", daemon=True
            )
            with self._lock:
                self._runs[number], self._threads[number] = run, thread
            thread.start()
        self._start_keeper()

    def _is_full(self, kind: JobKind[Any]) -> bool:
        running = sum(run.kind.name == kind.name for run in self._runs.values())
        return kind.at_once is not None and running >= kind.at_once

    @staticmethod
    def _ending_instead(run: JobRun[Any], now: datetime) -> Ending | None:
        """How a job that was taken ends without running; None where it runs."""
        job = run.job
        if job.cancel_requested:
            return Ending(status=JobStatus.CANCELLED, message="", result=None, at=now)
        if job.attempts > 1 and (not run.kind.resumable or job.attempts > MOST_ATTEMPTS):
            return Ending(status=JobStatus.INTERRUPTED, message=_INTERRUPTED, result=None, at=now)
        return None

    def _carry_out(self, run: JobRun[Any]) -> None:
        ending = self._outcome(run)
        if ending is not None:
            run.ending = ending
        if ending is None or self._write_end(run):
            self._forget(run)
        try:
            self.take_waiting()  # a job may have waited for this one
        except NotNow:
            _LOG.warning("the queue of jobs could not be read")
        finally:
            with self._lock:
                self._threads.pop(run.job.number, None)

    def _outcome(self, run: JobRun[Any]) -> Ending | None:
        """Do the work; None where another process has the job."""
        status, message, result = JobStatus.DONE, "", None
        try:
            run.kind.run(run)
        except JobCancelled:
            status = JobStatus.CANCELLED
        except LeaseLost:
            _LOG.warning("job %s was given up: it is no longer this process's", run.job.number)
            return None
        except Exception as error:  # noqa: BLE001 - the thread's last line: whoever waits must be told
            if not isinstance(error, DomainError):
                _LOG.exception("job %s (%s) failed", run.job.number, run.kind.name)
            status, message = JobStatus.FAILED, run.kind.failure_text(error)
            result = to_json(error.result) if isinstance(error, JobFailed) else None
        return Ending(status=status, message=message, result=result, at=self.clock())

    def _write_end(self, run: JobRun[Any]) -> bool:
        """Write the end of a job, unless the job wrote it itself or is another's; False: try again later."""
        if run.ending is None:
            return True
        try:
            with unit_of_work(self.engine) as db:
                run.write_end(db, run.ending)
        except NotNow:
            return False
        return True

    def _forget(self, run: JobRun[Any]) -> None:
        with self._lock:
            self._runs.pop(run.job.number, None)

    def _running(self) -> list[JobRun[Any]]:
        with self._lock:
            return list(self._runs.values())

    def _start_keeper(self) -> None:
        with self._lock:
            if self._keeper is None or not self._keeper.is_alive():
                self._keeper = threading.Thread(target=self._keep, name="jobs", daemon=True)
                self._keeper.start()

    def _keep(self) -> None:
        looked = 0.0
        pause = min(_KEEP_EVERY, self._lease.total_seconds() / 4)
        while True:
            with self._lock:
                if not self._runs and not self._watching:
                    self._keeper = None
                    return
            try:
                self._renew()
                if self._watching and time.monotonic() - looked >= min(_LOOK_EVERY, pause * 2.5):
                    looked = time.monotonic()
                    self.take_waiting()
            except NotNow:
                pass  # said in the log; the next look may find the database again
            except Exception:  # noqa: BLE001 - without the keeper every lease would end
                _LOG.exception("the keeper of jobs failed")
            if self._stopped.wait(pause):
                return

    def _renew(self) -> None:
        """Write progress down and renew leases; learn of cancellations and of jobs that were lost."""
        runs = self._running()
        if not runs or self._writing:
            return
        for run in runs:
            if run.ending is not None:
                if self._write_end(run):
                    self._forget(run)
                continue
            with unit_of_work(self.engine, patience_ms=_PATIENCE) as db:
                cancelled = stored.renew_lease(
                    db,
                    number=run.job.number,
                    worker=self.name,
                    lease_until=self.clock() + self._lease,
                    progress=run.progress,
                )
            if cancelled is None and run.ending is None:
                run.lost.set()
            elif cancelled:
                run.cancelled.set()
