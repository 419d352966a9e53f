"""The worker of a process, which takes jobs, runs each in a thread, and renews their leases.

Another thread, the keeper, stores progress, renews leases, reads cancellations by other processes, and takes
over jobs whose worker has stopped. ``JobRun.report_progress`` never waits for the database.

On SQLite, a job that writes holds the only write lock, so its lease can't be renewed during that time. The
keeper then pauses. If another process takes over the job afterwards, the first process loses it: the effect
and the outcome of a job are stored in one transaction, which is rolled back unless the job still belongs to
the process.
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
from jobs.service.runs import JobCancelled, JobFailed, JobKind, JobOutcome, JobRun, LeaseLost
from storage.accounts.people import load_person
from storage.engine import current_engine
from storage.jobs import jobs as job_storage
from storage.unit_of_work import read_only_session, unit_of_work

_LOG = logging.getLogger(__name__)
P = TypeVar("P")
T = TypeVar("T")

#: Duration of a lease. Other processes can take over a job that was not renewed for this time.
LEASE_DURATION = timedelta(seconds=30)
#: Maximum number of attempts. A job that was interrupted more often may crash the process itself.
MAX_ATTEMPTS = 3
#: Seconds between two rounds of the keeper, and between two searches for jobs of stopped workers.
_KEEPER_INTERVAL, _TAKEOVER_INTERVAL = 2.0, 5.0
#: Milliseconds that the keeper waits for the lock of another writer.
_LOCK_TIMEOUT_MS = 2_000
_INTERRUPTED_MESSAGE = "The server stopped while this was running."


class Worker:
    """Runs jobs in threads of this process.

    Args:
        name: a name that is unique among all processes.
        find_kind: a function that finds a kind by its name; None if this version has no such kind.
        clock: a function that returns the current time.
        engine: the database; None for the database of the environment.
        lease: the duration of a lease.
    """

    def __init__(
        self,
        name: str,
        find_kind: Callable[[str], JobKind[Any] | None],
        *,
        clock: Callable[[], datetime],
        engine: Engine | None = None,
        lease: timedelta = LEASE_DURATION,
    ) -> None:
        self.name, self.clock, self.engine = name, clock, engine
        self._find_kind, self._lease = find_kind, lease
        self._runs: dict[int, JobRun[Any]] = {}
        self._threads: dict[int, threading.Thread] = {}
        self._lock, self._take_lock = threading.Lock(), threading.Lock()
        self._keeper: threading.Thread | None = None
        self._is_watching = False
        self._stopped = threading.Event()
        self._writer_count = 0

    def watch(self) -> None:
        """Also take over jobs whose worker has stopped, until :meth:`stop` is called."""
        self._is_watching = True
        self._stopped.clear()
        self._start_keeper()

    def stop(self) -> None:
        """Release this process's jobs for other processes. The threads end with the process."""
        self._is_watching = False
        for run in self._list_runs():
            run.lease_lost.set()
        self._stopped.set()
        keeper = self._keeper
        if keeper is not None:
            keeper.join(2 * _LOCK_TIMEOUT_MS / 1000)  # a pending renewal must not undo the release below
        try:
            with unit_of_work(self.engine, lock_timeout_ms=_LOCK_TIMEOUT_MS) as db:
                job_storage.end_leases(db, worker=self.name, now=self.clock())
        except NotNow:
            _LOG.warning("the jobs of this process will be taken over when their lease ends")

    def run(self, job: Job, *, wait: float = 0.0) -> None:
        """Take the job unless another process has it, and wait up to ``wait`` seconds for its end."""
        self._take_job(job.number, job.kind)
        thread = self._threads.get(job.number)
        if thread is not None:
            thread.join(wait)

    def wait_until_idle(self, timeout: float) -> None:
        """Wait until no job runs in this process.

        Args:
            timeout: the maximum waiting time in seconds.

        Raises:
            TimeoutError: a job is still running.
        """
        deadline = time.monotonic() + timeout
        while threads := list(self._threads.values()):
            threads[0].join(max(0.0, deadline - time.monotonic()))
            if time.monotonic() >= deadline:
                raise TimeoutError(", ".join(thread.name for thread in threads))

    def take_waiting_jobs(self) -> None:
        """Take the jobs in the queue and the jobs of workers that have stopped."""
        with read_only_session(self.engine) as db:
            waiting_jobs = job_storage.list_claimable_jobs(db, now=self.clock())
        for number, kind in waiting_jobs:
            self._take_job(number, kind)

    def is_running(self, number: int) -> bool:
        """Whether the job runs in this process."""
        return number in self._runs

    def cancel(self, number: int) -> bool:
        """Cancel the job if it runs in this process, and return whether it does.

        Never waits for the database.
        """
        run = self._runs.get(number)
        if run is None:
            return False
        run.cancelled.set()
        return True

    def with_live_state(self, job: Job) -> Job:
        """Return the job with this process's latest progress and outcome, even if they are not stored yet."""
        run = self._runs.get(job.number)
        if run is None or not job.is_active:
            return job
        live_job = replace(
            job, progress=run.progress, cancel_requested=job.cancel_requested or run.cancelled.is_set()
        )
        if run.outcome is None:
            return live_job
        outcome = run.outcome
        return replace(
            live_job,
            status=outcome.status,
            message=outcome.message,
            result=outcome.result,
            finished_at=outcome.ended_at,
        )

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        """Open a unit of work. If the database has only one writer, the keeper does not write during it."""
        has_one_writer = (self.engine or current_engine()).dialect.name == "sqlite"
        with self._lock:
            self._writer_count += has_one_writer
        try:
            with unit_of_work(self.engine) as db:
                yield db
        finally:
            with self._lock:
                self._writer_count -= has_one_writer

    def _take_job(self, number: int, kind_name: str) -> None:
        kind = self._find_kind(kind_name)
        with self._take_lock:
            if kind is None or self._stopped.is_set() or number in self._runs or self._is_full(kind):
                return
            now = self.clock()
            with unit_of_work(self.engine) as db:
                job = job_storage.claim_job(
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
                early_outcome = self._check_startable(run, now)
                if early_outcome is not None:
                    run.save_outcome(db, early_outcome)
                    return
            thread = threading.Thread(
                target=self._run_job, args=(run,), name=f"job {number} ({kind.name})", daemon=True
            )
            with self._lock:
                self._runs[number], self._threads[number] = run, thread
            thread.start()
        self._start_keeper()

    def _is_full(self, kind: JobKind[Any]) -> bool:
        running = sum(run.kind.name == kind.name for run in self._runs.values())
        return kind.max_concurrent is not None and running >= kind.max_concurrent

    @staticmethod
    def _check_startable(run: JobRun[Any], now: datetime) -> JobOutcome | None:
        """Return the outcome of a job that was taken but must not run; None if it may run."""
        job = run.job
        if job.cancel_requested:
            return JobOutcome(status=JobStatus.CANCELLED, message="", result=None, ended_at=now)
        if job.attempts > 1 and (not run.kind.resumable or job.attempts > MAX_ATTEMPTS):
            return JobOutcome(
                status=JobStatus.INTERRUPTED, message=_INTERRUPTED_MESSAGE, result=None, ended_at=now
            )
        return None

    def _run_job(self, run: JobRun[Any]) -> None:
        outcome = self._execute(run)
        if outcome is not None:
            run.outcome = outcome
        if outcome is None or self._save_outcome(run):
            self._remove_run(run)
        try:
            self.take_waiting_jobs()  # a job may be waiting for the end of this one
        except NotNow:
            _LOG.warning("the queue of jobs could not be read")
        finally:
            with self._lock:
                self._threads.pop(run.job.number, None)

    def _execute(self, run: JobRun[Any]) -> JobOutcome | None:
        """Do the work and return its outcome; None if another process has the job."""
        status, message, result = JobStatus.DONE, "", None
        try:
            run.kind.run(run)
        except JobCancelled:
            status = JobStatus.CANCELLED
        except LeaseLost:
            _LOG.warning("job %s was stopped: another process has taken it over", run.job.number)
            return None
        except Exception as error:  # noqa: BLE001 - top of the thread: every failure is reported
            if not isinstance(error, DomainError):
                _LOG.exception("job %s (%s) failed", run.job.number, run.kind.name)
            status, message = JobStatus.FAILED, run.kind.describe_failure(error)
            result = to_json(error.result) if isinstance(error, JobFailed) else None
        return JobOutcome(status=status, message=message, result=result, ended_at=self.clock())

    def _save_outcome(self, run: JobRun[Any]) -> bool:
        """Store the outcome of a job; return False if the database is unavailable, to try again later.

        Does nothing if the job has already stored its outcome or belongs to another worker.
        """
        if run.outcome is None:
            return True
        try:
            with unit_of_work(self.engine) as db:
                run.save_outcome(db, run.outcome)
        except NotNow:
            return False
        return True

    def _remove_run(self, run: JobRun[Any]) -> None:
        with self._lock:
            self._runs.pop(run.job.number, None)

    def _list_runs(self) -> list[JobRun[Any]]:
        with self._lock:
            return list(self._runs.values())

    def _start_keeper(self) -> None:
        with self._lock:
            if self._keeper is None or not self._keeper.is_alive():
                self._keeper = threading.Thread(target=self._run_keeper, name="jobs", daemon=True)
                self._keeper.start()

    def _run_keeper(self) -> None:
        last_takeover = 0.0
        pause = min(_KEEPER_INTERVAL, self._lease.total_seconds() / 4)
        while True:
            with self._lock:
                if not self._runs and not self._is_watching:
                    self._keeper = None
                    return
            try:
                self._renew_leases()
                if self._is_watching and time.monotonic() - last_takeover >= min(
                    _TAKEOVER_INTERVAL, pause * 2.5
                ):
                    last_takeover = time.monotonic()
                    self.take_waiting_jobs()
            except NotNow:
                pass  # already logged; the database may be available in the next round
            except Exception:  # noqa: BLE001 - all leases would expire without the keeper
                _LOG.exception("the keeper of jobs failed")
            if self._stopped.wait(pause):
                return

    def _renew_leases(self) -> None:
        """Store progress, renew leases, read cancellations, and detect jobs that were taken over."""
        runs = self._list_runs()
        if not runs or self._writer_count:
            return
        for run in runs:
            if run.outcome is not None:
                if self._save_outcome(run):
                    self._remove_run(run)
                continue
            with unit_of_work(self.engine, lock_timeout_ms=_LOCK_TIMEOUT_MS) as db:
                cancelled = job_storage.renew_lease(
                    db,
                    number=run.job.number,
                    worker=self.name,
                    lease_until=self.clock() + self._lease,
                    progress=run.progress,
                )
            if cancelled is None and run.outcome is None:
                run.lease_lost.set()
            elif cancelled:
                run.cancelled.set()
