"""Jobs: started once, run by one process, cancelled, resumed after a kill, and what is shown of each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select, update

from accounts.service import add_person, command_line_person
from domain.errors import NotAllowed, NotFound
from domain.jobs import Job, JobProgress, JobStatus
from domain.people import Person, Role
from jobs import service as jobs
from jobs.service import Worker
from storage.jobs import jobs as job_storage
from storage.rows.datasets import DatasetRow
from storage.rows.jobs import JobRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage import job_kinds
from tests.storage.job_kinds import (
    ADD_ONCE,
    COUNT,
    EXCLUSIVE,
    FAIL,
    HOLD,
    KINDS,
    NOT_RESUMABLE,
    Count,
    Fail,
    Hold,
    utc_now,
)
from tests.storage.worlds import NOW

pytestmark = pytest.mark.database

ROOT = Path(__file__).resolve().parents[2]
BY = command_line_person()
TIMEOUT_SECONDS = 30  # seconds that a test waits for an expected event


@pytest.fixture
def worker(engine: Engine) -> Iterator[Worker]:
    new_worker = Worker("this process", KINDS.get, clock=utc_now, engine=engine, lease=job_kinds.LEASE)
    yield new_worker
    for event in job_kinds.HELD.values():
        event.set()
    new_worker.stop()
    new_worker.wait_until_idle(TIMEOUT_SECONDS)


@pytest.fixture
def cora(engine: Engine) -> Person:
    with unit_of_work(engine) as db:
        return add_person(
            db, by=BY, name="cora", display_name="Cora", roles=[Role.COORDINATOR], password=None, now=NOW
        )


def start_job(engine: Engine, kind, parameters, *, by: Person = BY, subject: str | None = None) -> Job:
    with unit_of_work(engine) as db:
        return jobs.start_job(db, by=by, kind=kind, parameters=parameters, subject=subject, now=utc_now())[0]


def start_held_job(engine: Engine, name: str, *, kind=HOLD, by: Person = BY) -> Job:
    """A job that waits for ``job_kinds.HELD[name]``."""
    job_kinds.HELD[name] = threading.Event()
    return start_job(engine, kind, Hold(name=name), by=by)


def load_job(engine: Engine, number: int) -> Job:
    with read_only_session(engine) as db:
        return jobs.load_job(db, by=BY, number=number)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "timed out waiting for the condition"
        time.sleep(0.02)


def read_counter(engine: Engine, dataset: str = "d") -> int:
    """Return the number that the jobs of these tests count up, in a column that they do not use otherwise."""
    with read_only_session(engine) as db:
        counters = db.execute(select(DatasetRow.minimum_explanation).where(DatasetRow.name == dataset))
        return counters.scalar_one()


def expire_lease(engine: Engine, number: int) -> None:
    with unit_of_work(engine) as db:
        db.execute(update(JobRow).where(JobRow.id == number).values(lease_until=NOW))


def test_finished_job_has_message_and_result(engine, worker):
    job_kinds.add_dataset(engine, "d")
    started = start_job(engine, COUNT, Count(dataset="d", to=3))
    assert started.status is JobStatus.QUEUED
    worker.run(started, wait=TIMEOUT_SECONDS)
    finished = load_job(engine, started.number)
    assert (finished.status, finished.message, finished.result) == (
        JobStatus.DONE,
        "Counted to 3.",
        '{"counted":3}',
    )
    assert finished.progress == JobProgress(done=3, total=3, unit="steps")
    assert read_counter(engine) == 3


def test_concurrent_starts_create_one_job(engine):
    barrier = threading.Barrier(2)

    def start_at_once() -> int:
        barrier.wait()
        return start_job(engine, COUNT, Count(dataset="d", to=3)).number

    with ThreadPoolExecutor(2) as threads:
        numbers = [future.result() for future in [threads.submit(start_at_once) for _ in range(2)]]
    assert numbers[0] == numbers[1]
    with read_only_session(engine) as db:
        assert db.execute(select(func.count()).select_from(JobRow)).scalar_one() == 1


def test_jobs_differ_by_parameters_unless_they_share_a_subject(engine):
    first = start_job(engine, COUNT, Count(dataset="d", to=3))
    assert start_job(engine, COUNT, Count(dataset="d", to=4)).number != first.number
    with_subject = start_job(engine, COUNT, Count(dataset="d", to=5), subject="all")
    assert start_job(engine, COUNT, Count(dataset="e", to=6), subject="all").number == with_subject.number


def test_a_finished_job_can_be_started_again(engine, worker):
    job_kinds.add_dataset(engine, "d")
    first = start_job(engine, COUNT, Count(dataset="d", to=2))
    worker.run(first, wait=TIMEOUT_SECONDS)
    second = start_job(engine, COUNT, Count(dataset="d", to=2))
    assert second.number != first.number


def test_only_one_of_concurrent_workers_claims_a_job(engine):
    started = start_job(engine, COUNT, Count(dataset="d", to=3))
    barrier = threading.Barrier(8)

    def claim(name: str) -> bool:
        barrier.wait()
        with unit_of_work(engine) as db:
            now = utc_now()
            lease = now + timedelta(minutes=1)
            return (
                job_storage.claim_job(db, number=started.number, worker=name, lease_until=lease, now=now)
                is not None
            )

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(claim, map(str, range(8)))) == 1


def test_leased_job_can_be_claimed_only_after_the_lease_ends(engine):
    started = start_job(engine, COUNT, Count(dataset="d", to=3))

    def claim(name: str, now) -> Job | None:
        with unit_of_work(engine) as db:
            lease = now + timedelta(seconds=30)
            return job_storage.claim_job(db, number=started.number, worker=name, lease_until=lease, now=now)

    assert claim("first", NOW).attempts == 1
    assert claim("second", NOW + timedelta(seconds=29)) is None
    assert claim("second", NOW + timedelta(seconds=30)).attempts == 2


def test_worker_without_its_lease_cannot_finish_the_job(engine, worker):
    job_kinds.add_dataset(engine, "d")
    started = start_held_job(engine, "lost")
    worker.run(started)
    wait_until(lambda: load_job(engine, started.number).status is JobStatus.RUNNING)
    with unit_of_work(engine) as db:
        other_lease = {"worker": "another process", "lease_until": utc_now() + timedelta(days=1)}
        db.execute(update(JobRow).where(JobRow.id == started.number).values(**other_lease))
    job_kinds.HELD["lost"].set()
    worker.wait_until_idle(TIMEOUT_SECONDS)
    stored_job = load_job(engine, started.number)
    assert (stored_job.status, stored_job.worker, stored_job.message) == (
        JobStatus.RUNNING,
        "another process",
        "",
    )


def test_running_job_renews_its_lease_and_saves_progress(engine, worker):
    started = start_held_job(engine, "kept")
    worker.run(started)
    wait_until(
        lambda: load_job(engine, started.number).progress == JobProgress(done=3, total=8, unit="questions")
    )
    first_lease = load_job(engine, started.number).lease_until
    wait_until(lambda: load_job(engine, started.number).lease_until > first_lease)
    assert worker.with_live_state(started).progress.text == "3 of 8 questions"


def test_cancelled_job_stops_and_keeps_finished_steps(engine, worker):
    job_kinds.add_dataset(engine, "d")
    started = start_job(engine, COUNT, Count(dataset="d", to=10_000, seconds=0.01))
    worker.run(started)
    wait_until(lambda: read_counter(engine) >= 3)
    assert worker.cancel(started.number)
    worker.wait_until_idle(TIMEOUT_SECONDS)
    assert load_job(engine, started.number).status is JobStatus.CANCELLED
    assert 3 <= read_counter(engine) < 10_000


def test_job_cancelled_by_another_process_stops(engine, worker):
    started = start_held_job(engine, "cancelled")
    worker.run(started)
    with unit_of_work(engine) as db:
        cancelling = jobs.cancel_job(db, by=BY, number=started.number, now=utc_now())
    assert (cancelling.status, cancelling.cancel_requested) == (JobStatus.RUNNING, True)
    wait_until(lambda: load_job(engine, started.number).status is JobStatus.CANCELLED)


def test_cancellation_rolls_the_open_transaction_back(engine, worker):
    job_kinds.add_dataset(engine, "d")
    started = start_job(engine, ADD_ONCE, Count(dataset="d", to=5, seconds=0.2))
    worker.run(started)
    wait_until(lambda: worker.with_live_state(started).progress.total == 10)
    worker.cancel(started.number)
    worker.wait_until_idle(TIMEOUT_SECONDS)
    assert (load_job(engine, started.number).status, read_counter(engine)) == (JobStatus.CANCELLED, 0)


def test_job_cancelled_in_the_queue_never_runs(engine, worker):
    started = start_job(engine, COUNT, Count(dataset="d", to=3))
    with unit_of_work(engine) as db:
        jobs.cancel_job(db, by=BY, number=started.number, now=utc_now())
    worker.run(started, wait=TIMEOUT_SECONDS)
    assert (load_job(engine, started.number).status, load_job(engine, started.number).attempts) == (
        JobStatus.CANCELLED,
        0,
    )


@pytest.mark.parametrize(
    ("how", "message", "result"),
    [
        ("refused", "There is no such dataset.", None),
        ("disk", "Not saved. The disk is full: set.jsonl", None),
        ("details", "Nothing came in.", '["line 3"]'),
        ("fault", "Not saved. The server log gives the reason.", None),
    ],
)
def test_failed_job_states_the_reason(engine, worker, how, message, result):
    started = start_job(engine, FAIL, Fail(how=how))
    worker.run(started, wait=TIMEOUT_SECONDS)
    failed = load_job(engine, started.number)
    assert failed.status is JobStatus.FAILED
    assert failed.message.startswith(message)
    assert failed.result == result


def test_exclusive_jobs_run_one_after_the_other(engine, worker):
    first, second = (
        start_held_job(engine, "one", kind=EXCLUSIVE),
        start_held_job(engine, "two", kind=EXCLUSIVE),
    )
    worker.run(first)
    worker.run(second)
    assert load_job(engine, second.number).status is JobStatus.QUEUED
    job_kinds.HELD["one"].set()
    wait_until(lambda: load_job(engine, second.number).status is JobStatus.RUNNING)
    assert load_job(engine, first.number).status is JobStatus.DONE


def test_job_of_a_stopped_worker_can_be_claimed_at_once(engine, worker):
    started = start_held_job(engine, "stopped")
    worker.run(started)
    worker.stop()
    worker.wait_until_idle(TIMEOUT_SECONDS)
    job_kinds.HELD["stopped"].set()
    next_worker = Worker("next process", KINDS.get, clock=utc_now, engine=engine)
    next_worker.take_waiting_jobs()
    next_worker.wait_until_idle(TIMEOUT_SECONDS)
    assert (load_job(engine, started.number).status, load_job(engine, started.number).attempts) == (
        JobStatus.DONE,
        2,
    )


def test_job_that_cannot_resume_is_interrupted_and_can_be_restarted(engine, worker):
    started = start_held_job(engine, "not again", kind=NOT_RESUMABLE)
    with unit_of_work(engine) as db:
        job_storage.claim_job(db, number=started.number, worker="killed", lease_until=NOW, now=NOW)
    worker.take_waiting_jobs()
    stored_job = load_job(engine, started.number)
    assert (stored_job.status, stored_job.message) == (
        JobStatus.INTERRUPTED,
        "The server stopped while this was running.",
    )
    with unit_of_work(engine) as db:
        restarted = jobs.restart_job(db, by=BY, number=started.number, now=utc_now())
    assert (restarted.status, restarted.parameters) == (JobStatus.QUEUED, started.parameters)


def test_job_that_kills_its_process_three_times_is_interrupted(engine, worker):
    started = start_held_job(engine, "fatal")
    for attempt in range(3):
        with unit_of_work(engine) as db:
            job_storage.claim_job(
                db, number=started.number, worker=f"killed {attempt}", lease_until=NOW, now=NOW
            )
    worker.take_waiting_jobs()
    assert load_job(engine, started.number).status is JobStatus.INTERRUPTED


def test_job_of_an_unknown_kind_stays_in_the_queue(engine, worker):
    with unit_of_work(engine) as db:
        added = job_storage.add_job(
            db, kind="of tomorrow", subject="s", action=HOLD.action, owner_id=None, parameters="{}", now=NOW
        )
    worker.take_waiting_jobs()
    assert load_job(engine, added.number).status is JobStatus.QUEUED


def start_worker_process(engine: Engine, name: str) -> subprocess.Popen[str]:
    """Another process that runs the queued jobs of this database."""
    url = engine.url.render_as_string(hide_password=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.storage.job_kinds", url, name],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "watching\n"
    return process


def kill_process(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(TIMEOUT_SECONDS)
    process.stdout.close()


@pytest.mark.slow
def test_killed_job_resumes_at_its_checkpoint(engine, worker):
    job_kinds.add_dataset(engine, "d")
    started = start_job(engine, COUNT, Count(dataset="d", to=60, seconds=0.02))
    worker_process = start_worker_process(engine, "to be killed")
    wait_until(lambda: read_counter(engine) >= 10)
    kill_process(worker_process)
    assert read_counter(engine) < 60
    assert load_job(engine, started.number).status is JobStatus.RUNNING
    worker.watch()
    wait_until(lambda: not load_job(engine, started.number).is_active)
    finished = load_job(engine, started.number)
    assert (finished.status, finished.attempts, finished.worker) == (JobStatus.DONE, 2, "this process")
    assert read_counter(engine) == 60  # each step once, none left out


@pytest.mark.slow
def test_job_killed_in_its_only_transaction_starts_over(engine, worker):
    job_kinds.add_dataset(engine, "d")
    started = start_job(engine, ADD_ONCE, Count(dataset="d", to=5, seconds=0.05))
    worker_process = start_worker_process(engine, "to be killed")
    wait_until(lambda: load_job(engine, started.number).status is JobStatus.RUNNING)
    time.sleep(0.2)
    kill_process(worker_process)
    worker.watch()
    wait_until(lambda: not load_job(engine, started.number).is_active)
    assert (load_job(engine, started.number).message, read_counter(engine)) == ("Added.", 5)


def test_own_latest_job_is_found_until_it_is_dismissed(engine, worker, cora):
    first = start_job(engine, FAIL, Fail(how="refused"), by=cora, subject="s")
    worker.run(first, wait=TIMEOUT_SECONDS)
    second = start_job(engine, FAIL, Fail(how="disk"), by=BY, subject="s")
    with read_only_session(engine) as db:
        assert jobs.load_latest_job(db, by=cora, kind=FAIL, subject="s").number == second.number
        assert jobs.load_own_latest_job(db, by=cora, kind=FAIL).number == first.number
    with unit_of_work(engine) as db:
        jobs.dismiss_job(db, by=cora, number=first.number)
        jobs.dismiss_job(db, by=cora, number=second.number)  # an active job stays
    with read_only_session(engine) as db:
        assert jobs.load_own_latest_job(db, by=cora, kind=FAIL) is None
        assert jobs.load_latest_job(db, by=cora, kind=FAIL, subject="s").number == second.number
        assert [job.number for job in jobs.list_jobs(db, by=cora)] == [second.number, first.number]
        assert [job.number for job in jobs.list_jobs(db, by=cora, active_only=True)] == [second.number]


def test_job_needs_its_permission_to_start_see_and_cancel(engine):
    with unit_of_work(engine) as db:
        rhea = add_person(
            db, by=BY, name="rhea", display_name="Rhea", roles=[Role.READER], password=None, now=NOW
        )
    started = start_job(engine, FAIL, Fail(how="refused"))
    with pytest.raises(NotAllowed):
        start_job(engine, FAIL, Fail(how="disk"), by=rhea)
    with read_only_session(engine) as db:
        assert jobs.list_jobs(db, by=rhea) == []
        with pytest.raises(NotAllowed):
            jobs.load_latest_job(db, by=rhea, kind=FAIL, subject="s")
    for request in (jobs.dismiss_job, lambda db, **options: jobs.cancel_job(db, now=NOW, **options)):
        with pytest.raises(NotFound), unit_of_work(engine) as db:
            request(db, by=rhea, number=started.number)


def test_remaining_time_follows_from_the_rate(engine):
    started = start_job(engine, COUNT, Count(dataset="d", to=3))
    with unit_of_work(engine) as db:
        claimed = job_storage.claim_job(db, number=started.number, worker="w", lease_until=NOW, now=NOW)
        progress = JobProgress(done=50, total=200, unit="questions")
        job_storage.renew_lease(db, number=started.number, worker="w", lease_until=NOW, progress=progress)
    assert claimed.seconds_left(NOW + timedelta(seconds=10)) is None  # nothing done yet
    running = load_job(engine, started.number)
    assert running.units_per_second(NOW + timedelta(seconds=10)) == 5.0
    assert running.seconds_left(NOW + timedelta(seconds=10)) == 30.0  # 150 questions at 5 per second
    assert running.seconds_left(NOW + timedelta(seconds=2)) is None  # too early for an estimate
