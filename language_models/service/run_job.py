"""Works on a run over HTTP, in a command or as a job of the app. Both share the requests by leases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine

from domain.count_texts import count_text
from domain.errors import Refused
from domain.jobs import JobProgress
from domain.language_models import Endpoint, RunProgress, RunStatus, format_cost
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from language_models.client import ModelClient
from language_models.http_driver import HttpDriver
from language_models.service.runs import load_progress
from language_models.service.work_queue import LEASE, RunQueue, check_permitted
from storage.unit_of_work import read_only_session
from storage.workspace import current_workspace


def work_on_run(
    *,
    by: Person,
    name: str,
    worker: str,
    clock: Callable[[], datetime],
    report: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    most: int | None = None,
    lease: timedelta = LEASE,
    engine: Engine | None = None,
) -> RunProgress:
    """Make the calls of a run until none is left for this process, and return its progress.

    Several processes may work on the same run.

    Args:
        by: the acting person.
        name: the name of the run.
        worker: a name that is unique among all processes.
        clock: returns the current time.
        report: called often with the number of calls of this process.
        should_stop: whether to stop; running calls get 20 seconds to finish.
        most: the largest number of calls of this process; None for no limit.
        lease: how long requests stay claimed if this process does not renew the claim.
        engine: the database; None for the database of the environment.

    Raises:
        NotFound: there is no such run.
        Refused: the run is paused or cancelled, or the dataset does not permit the endpoint.
        InvalidValue: the key of the endpoint is missing.
    """
    with read_only_session(engine) as db:
        progress = load_progress(db, by=by, name=name, now=clock())
        run = progress.run
        if not progress.is_finished:
            if run.status is not RunStatus.OPEN:
                raise Refused(f"Run {name} is {run.status.value}. {run.reason}".strip())
            check_permitted(db, run)
    if not progress.is_finished:
        queue = RunQueue(run, worker=worker, workspace=current_workspace(), engine=engine, lease=lease)
        try:
            asyncio.run(
                _drive(queue, run.endpoint, clock=clock, report=report, should_stop=should_stop, most=most)
            )
        finally:
            queue.close()
    with read_only_session(engine) as db:
        return load_progress(db, by=by, name=name, now=clock())


async def _drive(
    queue: RunQueue,
    endpoint: Endpoint,
    *,
    clock: Callable[[], datetime],
    report: Callable[[int], None],
    should_stop: Callable[[], bool],
    most: int | None,
) -> None:
    async with ModelClient(endpoint) as client:
        driver = HttpDriver(queue, client, clock=clock, report=report, should_stop=should_stop, most=most)
        await driver.run()


def describe_progress(progress: RunProgress) -> str:
    """Describe how far a run is, in one or two sentences."""
    run = progress.run
    text = f"{progress.ended:,} of {count_text(run.requests, 'request')} ended"
    failed = sum(progress.failures.values())
    if failed:
        kinds = ", ".join(f"{count:,} {kind.value}" for kind, count in progress.failures.items())
        text += f", {failed:,} without a usable reply ({kinds})"
    cost = format_cost(run.cost_nanos) + (" and calls without a known price" if run.unpriced_calls else "")
    text += (
        f". {count_text(run.calls, 'call')}, {run.prompt_tokens + run.completion_tokens:,} tokens, {cost}."
    )
    if run.status is not RunStatus.OPEN and not progress.is_finished:
        text += f" {run.status.value.capitalize()}: {run.reason}"
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParameters:
    """The parameters of the job: the name of the run."""

    name: str


def _run(job: JobRun[RunParameters]) -> None:
    name = job.parameters.name
    with job.read_session() as db:
        progress = load_progress(db, by=job.owner, name=name, now=job.now())
    total, ended_before = progress.run.requests, progress.ended

    def report(calls: int) -> None:
        job.progress = JobProgress(done=min(total, ended_before + calls), total=total, unit="requests")

    result = work_on_run(
        by=job.owner,
        name=name,
        worker=job.worker_name,
        clock=job.now,
        report=report,
        should_stop=job.should_stop,
    )
    job.raise_if_cancelled()
    with job.transaction() as db:
        job.finish(db, describe_progress(result))


MODEL_RUN = JobKind(
    name="model run",
    title="Requests to a language model",
    action=Action.RUN_MODELS,
    parameters=RunParameters,
    run=_run,
    failure_prefix="The run stopped.",
)
