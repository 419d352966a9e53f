"""Kinds of jobs for tests, and a process that runs one: ``python -m tests.storage.job_kinds``."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import select, update

from domain.errors import DomainError
from domain.people import Action
from jobs.service import JobFailed, JobKind, JobRun, Worker
from storage.engine import make_engine
from storage.rows.datasets import DatasetRow
from storage.unit_of_work import unit_of_work

#: Short, so that the job of a killed process is released soon.
LEASE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Count up to ``to`` in steps of one, ``seconds`` apart, in the row of the dataset of that name."""

    dataset: str
    to: int
    seconds: float = 0.0


def _count(run: JobRun[Count]) -> None:
    """Each step is one transaction with its checkpoint; a number in the dataset's row is the counter."""
    parameters = run.parameters
    condition = DatasetRow.name == parameters.dataset
    for step in range(run.load_checkpoint(int) or 0, parameters.to):
        with run.transaction() as db:
            before = db.execute(select(DatasetRow.minimum_explanation).where(condition)).scalar_one()
            db.execute(update(DatasetRow).where(condition).values(minimum_explanation=before + 1))
            run.save_checkpoint(db, step + 1)
        run.report_progress(step + 1, parameters.to, "steps")
        time.sleep(parameters.seconds)
    with run.transaction() as db:
        run.finish(db, f"Counted to {parameters.to}.", {"counted": parameters.to})


def _add_once(run: JobRun[Count]) -> None:
    """One long transaction that also ends the job."""
    parameters = run.parameters
    with run.transaction() as db:
        condition = DatasetRow.name == parameters.dataset
        before = db.execute(select(DatasetRow.minimum_explanation).where(condition)).scalar_one()
        db.execute(update(DatasetRow).where(condition).values(minimum_explanation=before + parameters.to))
        for step in range(10):
            run.report_progress(step, 10, "steps")
            time.sleep(parameters.seconds)
        run.finish(db, "Added.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Fail in the given way."""

    how: str


def _fail(run: JobRun[Fail]) -> None:
    match run.parameters.how:
        case "refused":
            raise DomainError("There is no such dataset.")
        case "disk":
            raise OSError(28, "No space left on device", "set.jsonl")
        case "details":
            raise JobFailed("Nothing came in.", ["line 3"])
        case _:
            raise ValueError("secret of a patient")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Wait until the test sets ``HELD[name]``."""

    name: str


HELD: dict[str, threading.Event] = {}


def _hold(run: JobRun[Hold]) -> None:
    run.report_progress(3, 8, "questions")
    while not HELD[run.parameters.name].wait(0.01):
        run.raise_if_cancelled()
    with run.transaction() as db:
        run.finish(db, "All of *it* is done.")


_BROWSE = Action.BROWSE
COUNT = JobKind(name="count", title="Counting", action=_BROWSE, parameters=Count, run=_count)
ADD_ONCE = JobKind(name="add once", title="Adding", action=_BROWSE, parameters=Count, run=_add_once)
FAIL = JobKind(name="fail", title="Failing", action=_BROWSE, parameters=Fail, run=_fail)
HOLD = JobKind(name="hold", title="Holding", action=_BROWSE, parameters=Hold, run=_hold)
EXCLUSIVE = JobKind(name="alone", title="Alone", action=_BROWSE, parameters=Hold, run=_hold, max_concurrent=1)
NOT_RESUMABLE = JobKind(
    name="not again", title="Once", action=_BROWSE, parameters=Hold, run=_hold, resumable=False
)
KINDS = {kind.name: kind for kind in (COUNT, ADD_ONCE, FAIL, HOLD, EXCLUSIVE, NOT_RESUMABLE)}


def utc_now() -> datetime:
    return datetime.now(UTC)


def main(url: str, name: str) -> None:
    """Run the queued jobs of that database until the process is killed."""
    engine = make_engine(url)
    worker = Worker(name, KINDS.get, clock=utc_now, engine=engine, lease=LEASE)
    worker.watch()
    sys.stdout.write("watching\n")
    sys.stdout.flush()
    time.sleep(120)


def add_dataset(engine, name: str) -> None:
    """Add a dataset whose row holds the counter."""
    with unit_of_work(engine) as db:
        db.add(DatasetRow(name=name, minimum_explanation=0, created_at=utc_now()))


if __name__ == "__main__":
    main(*sys.argv[1:])
