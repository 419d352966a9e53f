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
from storage.jobs import jobs as stored
from storage.rows import DatasetRow, JobRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage import job_kinds
from tests.storage.job_kinds import (
    ADD_ONCE,
    ALONE,
    COUNT,
    FAIL,
    HOLD,
    KINDS,
    NOT_AGAIN,
    Count,
    Fail,
    Hold,
    utc_now,
)
from tests.storage.worlds import NOW

ROOT = Path(__file__).resolve().parents[2]
BY = command_line_person()
SOON = 30  # seconds that a test waits for an expected event


@pytest.fixture
def worker(engine: Engine) -> Iterator[Worker]:
    made = Worker("this process", KINDS.get, clock=utc_now, engine=engine, lease=job_kinds.LEASE)
    yield made
    for event in job_kinds.HELD.values():
        event.set()
    made.stop()
    made.wait_until_idle(SOON)


@pytest.fixture
def cora(engine: Engine) -> Person:
    with unit_of_work(engine) as db:
        return add_person(
            db, by=BY, name="cora", display_name="Cora", roles=[Role.COORDINATOR], password=None, now=NOW
        )


def start(engine: Engine, kind, parameters, *, by: Person = BY, subject: str | None = None) -> Job:
    with unit_of_work(engine) as db:
        return jobs.start_job(db, by=by, kind=kind, parameters=parameters, subject=subject, now=utc_now())[0]


def hold(engine: Engine, name: str, *, kind=HOLD, by: Person = BY) -> Job:
    """A job that waits for ``job_kinds.HELD[name]``."""
    job_kinds.HELD[name] = threading.Event()
    return start(engine, kind, Hold(name=name), by=by)


def job(engine: Engine, number: int) -> Job:
    with read_only_session(engine) as db:
        return jobs.load_job(db, by=BY, number=number)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


def counter(engine: Engine, dataset: str = "d") -> int:
    with read_only_session(engine) as db:
        found = db.execute(select(DatasetRow.minimum_explanation).where(DatasetRow.name == dataset))
        return found.scalar_one()


def end_lease(engine: Engine, number: int) -> None:
    with unit_of_work(engine) as db:
        db.execute(update(JobRow).where(JobRow.id == number).values(lease_until=NOW))


def test_a_job_is_done_with_its_message_and_its_result(engine, worker):
    job_kinds.add_dataset(engine, "d")
    made = start(engine, COUNT, Count(dataset="d", to=3))
    assert made.status is JobStatus.QUEUED
    worker.run(made, wait=SOON)
    done = job(engine, made.number)
    assert (done.status, done.message, done.result) == (JobStatus.DONE, "Counted to 3.", '{"counted":3}')
    assert done.progress == JobProgress(done=3, total=3, unit="steps")
    assert counter(engine) == 3


def test_started_twice_at_once_it_is_one_job(engine):
    both = threading.Barrier(2)

    def click() -> int:
        both.wait()
        return start(engine, COUNT, Count(dataset="d", to=3)).number

    with ThreadPoolExecutor(2) as threads:
        numbers = [click.result() for click in [threads.submit(click) for _ in range(2)]]
    assert numbers[0] == numbers[1]
    with read_only_session(engine) as db:
        assert db.execute(select(func.count()).select_from(JobRow)).scalar_one() == 1


def test_other_parameters_are_another_job_and_one_subject_is_one_job(engine):
    first = start(engine, COUNT, Count(dataset="d", to=3))
    assert start(engine, COUNT, Count(dataset="d", to=4)).number != first.number
    one = start(engine, COUNT, Count(dataset="d", to=5), subject="all")
    assert start(engine, COUNT, Count(dataset="e", to=6), subject="all").number == one.number


def test_a_finished_job_can_be_started_again(engine, worker):
    job_kinds.add_dataset(engine, "d")
    first = start(engine, COUNT, Count(dataset="d", to=2))
    worker.run(first, wait=SOON)
    second = start(engine, COUNT, Count(dataset="d", to=2))
    assert second.number != first.number


def test_of_two_workers_at_once_one_takes_the_job(engine):
    made = start(engine, COUNT, Count(dataset="d", to=3))
    both = threading.Barrier(8)

    def take(name: str) -> bool:
        both.wait()
        with unit_of_work(engine) as db:
            now = utc_now()
            lease = now + timedelta(minutes=1)
            return (
                stored.claim_job(db, number=made.number, worker=name, lease_until=lease, now=now) is not None
            )

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(take, map(str, range(8)))) == 1


def test_a_job_with_a_lease_is_left_alone_and_taken_when_the_lease_has_ended(engine):
    made = start(engine, COUNT, Count(dataset="d", to=3))

    def take(name: str, now) -> Job | None:
        with unit_of_work(engine) as db:
            lease = now + timedelta(seconds=30)
            return stored.claim_job(db, number=made.number, worker=name, lease_until=lease, now=now)

    assert take("first", NOW).attempts == 1
    assert take("second", NOW + timedelta(seconds=29)) is None
    assert take("second", NOW + timedelta(seconds=30)).attempts == 2


def test_a_worker_whose_lease_was_lost_keeps_neither_its_effect_nor_its_end(engine, worker):
    job_kinds.add_dataset(engine, "d")
    made = hold(engine, "lost")
    worker.run(made)
    until(lambda: job(engine, made.number).status is JobStatus.RUNNING)
    with unit_of_work(engine) as db:
        held_by_another = {"worker": "another process", "lease_until": utc_now() + timedelta(days=1)}
        db.execute(update(JobRow).where(JobRow.id == made.number).values(**held_by_another))
    job_kinds.HELD["lost"].set()
    worker.wait_until_idle(SOON)
    left = job(engine, made.number)
    assert (left.status, left.worker, left.message) == (JobStatus.RUNNING, "another process", "")


def test_while_it_runs_its_lease_is_kept_and_its_progress_written(engine, worker):
    made = hold(engine, "kept")
    worker.run(made)
    until(lambda: job(engine, made.number).progress == JobProgress(done=3, total=8, unit="questions"))
    first = job(engine, made.number).lease_until
    until(lambda: job(engine, made.number).lease_until > first)
    assert worker.with_live_state(made).progress.text == "3 of 8 questions"


def test_cancelled_in_the_middle_it_stops_and_what_is_done_stays(engine, worker):
    job_kinds.add_dataset(engine, "d")
    made = start(engine, COUNT, Count(dataset="d", to=10_000, seconds=0.01))
    worker.run(made)
    until(lambda: counter(engine) >= 3)
    assert worker.cancel(made.number)
    worker.wait_until_idle(SOON)
    assert job(engine, made.number).status is JobStatus.CANCELLED
    assert 3 <= counter(engine) < 10_000


def test_cancelled_by_another_process_it_stops(engine, worker):
    made = hold(engine, "cancelled")
    worker.run(made)
    with unit_of_work(engine) as db:
        asked = jobs.cancel_job(db, by=BY, number=made.number, now=utc_now())
    assert (asked.status, asked.cancel_requested) == (JobStatus.RUNNING, True)
    until(lambda: job(engine, made.number).status is JobStatus.CANCELLED)


def test_cancelled_in_a_transaction_nothing_of_it_is_kept(engine, worker):
    job_kinds.add_dataset(engine, "d")
    made = start(engine, ADD_ONCE, Count(dataset="d", to=5, seconds=0.2))
    worker.run(made)
    until(lambda: worker.with_live_state(made).progress.total == 10)
    worker.cancel(made.number)
    worker.wait_until_idle(SOON)
    assert (job(engine, made.number).status, counter(engine)) == (JobStatus.CANCELLED, 0)


def test_cancelled_in_the_queue_it_never_runs(engine, worker):
    made = start(engine, COUNT, Count(dataset="d", to=3))
    with unit_of_work(engine) as db:
        jobs.cancel_job(db, by=BY, number=made.number, now=utc_now())
    worker.run(made, wait=SOON)
    assert (job(engine, made.number).status, job(engine, made.number).attempts) == (JobStatus.CANCELLED, 0)


@pytest.mark.parametrize(
    ("how", "message", "result"),
    [
        ("refused", "There is no such dataset.", None),
        ("disk", "Not saved. The disk is full: set.jsonl", None),
        ("details", "Nothing came in.", '["line 3"]'),
        ("fault", "Not saved. The server's log says why.", None),
    ],
)
def test_what_it_fails_on_is_said(engine, worker, how, message, result):
    made = start(engine, FAIL, Fail(how=how))
    worker.run(made, wait=SOON)
    failed = job(engine, made.number)
    assert failed.status is JobStatus.FAILED
    assert failed.message.startswith(message)
    assert failed.result == result


def test_of_a_kind_that_runs_alone_the_second_waits_for_the_first(engine, worker):
    first, second = hold(engine, "one", kind=ALONE), hold(engine, "two", kind=ALONE)
    worker.run(first)
    worker.run(second)
    assert job(engine, second.number).status is JobStatus.QUEUED
    job_kinds.HELD["one"].set()
    until(lambda: job(engine, second.number).status is JobStatus.RUNNING)
    assert job(engine, first.number).status is JobStatus.DONE


def test_stopped_with_its_process_it_is_free_at_once(engine, worker):
    made = hold(engine, "stopped")
    worker.run(made)
    worker.stop()
    worker.wait_until_idle(SOON)
    job_kinds.HELD["stopped"].set()
    other = Worker("next process", KINDS.get, clock=utc_now, engine=engine)
    other.take_waiting_jobs()
    other.wait_until_idle(SOON)
    assert (job(engine, made.number).status, job(engine, made.number).attempts) == (JobStatus.DONE, 2)


def test_a_kind_that_cannot_be_resumed_is_interrupted_and_can_be_started_again(engine, worker):
    made = hold(engine, "not again", kind=NOT_AGAIN)
    with unit_of_work(engine) as db:
        stored.claim_job(db, number=made.number, worker="killed", lease_until=NOW, now=NOW)
    worker.take_waiting_jobs()
    left = job(engine, made.number)
    assert (left.status, left.message) == (
        JobStatus.INTERRUPTED,
        "The server stopped while this was running.",
    )
    with unit_of_work(engine) as db:
        again = jobs.restart_job(db, by=BY, number=made.number, now=utc_now())
    assert (again.status, again.parameters) == (JobStatus.QUEUED, made.parameters)


def test_a_job_that_ends_its_process_three_times_is_not_taken_again(engine, worker):
    made = hold(engine, "fatal")
    for attempt in range(3):
        with unit_of_work(engine) as db:
            stored.claim_job(db, number=made.number, worker=f"killed {attempt}", lease_until=NOW, now=NOW)
    worker.take_waiting_jobs()
    assert job(engine, made.number).status is JobStatus.INTERRUPTED


def test_a_kind_of_a_newer_version_is_left_in_the_queue(engine, worker):
    with unit_of_work(engine) as db:
        made = stored.add_job(
            db, kind="of tomorrow", subject="s", action=HOLD.action, owner_id=None, parameters="{}", now=NOW
        )
    worker.take_waiting_jobs()
    assert job(engine, made.number).status is JobStatus.QUEUED


def run_elsewhere(engine: Engine, name: str) -> subprocess.Popen[str]:
    """Another process that runs the queued jobs of this database."""
    url = engine.url.render_as_string(hide_password=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.storage.job_kinds", url, name],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "watching\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(SOON)
    process.stdout.close()


@pytest.mark.slow
def test_killed_in_the_middle_it_continues_where_it_was(engine, worker):
    job_kinds.add_dataset(engine, "d")
    made = start(engine, COUNT, Count(dataset="d", to=60, seconds=0.02))
    other = run_elsewhere(engine, "to be killed")
    until(lambda: counter(engine) >= 10)
    kill(other)
    assert counter(engine) < 60
    assert job(engine, made.number).status is JobStatus.RUNNING
    worker.watch()
    until(lambda: not job(engine, made.number).is_active)
    done = job(engine, made.number)
    assert (done.status, done.attempts, done.worker) == (JobStatus.DONE, 2, "this process")
    assert counter(engine) == 60  # each step once, none left out


@pytest.mark.slow
def test_killed_in_its_only_transaction_it_starts_over_and_adds_once(engine, worker):
    job_kinds.add_dataset(engine, "d")
    made = start(engine, ADD_ONCE, Count(dataset="d", to=5, seconds=0.05))
    other = run_elsewhere(engine, "to be killed")
    until(lambda: job(engine, made.number).status is JobStatus.RUNNING)
    time.sleep(0.2)
    kill(other)
    worker.watch()
    until(lambda: not job(engine, made.number).is_active)
    assert (job(engine, made.number).message, counter(engine)) == ("Added.", 5)


def test_the_latest_job_is_found_until_it_is_dismissed(engine, worker, cora):
    first = start(engine, FAIL, Fail(how="refused"), by=cora, subject="s")
    worker.run(first, wait=SOON)
    second = start(engine, FAIL, Fail(how="disk"), by=BY, subject="s")
    with read_only_session(engine) as db:
        assert jobs.load_latest_job(db, by=cora, kind=FAIL, subject="s").number == second.number
        assert jobs.load_own_latest_job(db, by=cora, kind=FAIL).number == first.number
    with unit_of_work(engine) as db:
        jobs.dismiss_job(db, by=cora, number=first.number)
        jobs.dismiss_job(db, by=cora, number=second.number)  # an active job stays
    with read_only_session(engine) as db:
        assert jobs.load_own_latest_job(db, by=cora, kind=FAIL) is None
        assert jobs.load_latest_job(db, by=cora, kind=FAIL, subject="s").number == second.number
        assert [each.number for each in jobs.list_jobs(db, by=cora)] == [second.number, first.number]
        assert [each.number for each in jobs.list_jobs(db, by=cora, active_only=True)] == [second.number]


def test_who_may_not_do_what_a_job_does_can_neither_start_nor_see_nor_cancel_it(engine):
    with unit_of_work(engine) as db:
        rhea = add_person(
            db, by=BY, name="rhea", display_name="Rhea", roles=[Role.READER], password=None, now=NOW
        )
    made = start(engine, FAIL, Fail(how="refused"))
    with pytest.raises(NotAllowed):
        start(engine, FAIL, Fail(how="disk"), by=rhea)
    with read_only_session(engine) as db:
        assert jobs.list_jobs(db, by=rhea) == []
        with pytest.raises(NotAllowed):
            jobs.load_latest_job(db, by=rhea, kind=FAIL, subject="s")
    for change in (jobs.dismiss_job, lambda db, **who: jobs.cancel_job(db, now=NOW, **who)):
        with pytest.raises(NotFound), unit_of_work(engine) as db:
            change(db, by=rhea, number=made.number)


def test_the_remaining_time_follows_from_the_rate(engine):
    made = start(engine, COUNT, Count(dataset="d", to=3))
    with unit_of_work(engine) as db:
        taken = stored.claim_job(db, number=made.number, worker="w", lease_until=NOW, now=NOW)
        progress = JobProgress(done=50, total=200, unit="questions")
        stored.renew_lease(db, number=made.number, worker="w", lease_until=NOW, progress=progress)
    assert taken.seconds_left(NOW + timedelta(seconds=10)) is None  # nothing done yet
    running = job(engine, made.number)
    assert running.units_per_second(NOW + timedelta(seconds=10)) == 5.0
    assert running.seconds_left(NOW + timedelta(seconds=10)) == 30.0  # 150 of them at 5 a second
    assert running.seconds_left(NOW + timedelta(seconds=2)) is None  # too early for an estimate
