"""Works on a jury, in a command or as a job of the app: one run after another, then the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Engine

from domain.checks import Check
from domain.count_texts import count_text
from domain.jobs import JobProgress
from domain.juries import Jury
from domain.language_models import TEST_MODEL_NOTE, RunStatus, format_cost
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from language_models import service as models
from quality.service.juries import JuryProgress, load_jury_progress
from quality.service.jury_results import store_votes, update_results
from storage.unit_of_work import read_only_session, unit_of_work


def work_on_jury(
    *,
    by: Person,
    jury_id: int,
    worker: str,
    clock: Callable[[], datetime],
    report: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    is_replaced: Callable[[], bool] = lambda: False,
    engine: Engine | None = None,
) -> JuryProgress:
    """Make the calls of a jury, store votes and results, and return the progress.

    The work stops at the first run that is paused. The votes so far are always stored, unless another process
    has taken over.

    Args:
        by: the acting person.
        jury_id: the id of the jury.
        worker: a name that is unique among all processes.
        clock: returns the current time.
        report: called often with the number of requests that have ended.
        should_stop: whether to stop.
        is_replaced: whether another process has taken over, which stores the votes.
        engine: the database; None for the database of the environment.

    Raises:
        NotFound: there is no such jury.
        Refused: a run is paused or cancelled.
    """
    with read_only_session(engine) as db:
        progress = load_jury_progress(db, by=by, jury_id=jury_id, now=clock())
    ended = progress.ended
    try:
        for judge_progress in progress.judges:
            if should_stop():
                break
            if judge_progress.requests is None:
                continue
            ended_before = judge_progress.requests.ended
            result = models.work_on_run(
                by=by,
                name=judge_progress.requests.run.name,
                worker=worker,
                clock=clock,
                report=partial(_report_calls, report, ended),
                should_stop=should_stop,
                engine=engine,
            )
            ended += result.ended - ended_before
            if not result.is_finished:
                break
    finally:
        if not is_replaced():
            _store_results(by=by, jury=progress.jury, now=clock(), engine=engine)
    with read_only_session(engine) as db:
        return load_jury_progress(db, by=by, jury_id=jury_id, now=clock())


def describe_jury_progress(progress: JuryProgress) -> str:
    """Describe how far a jury is, in one or a few sentences."""
    text = f"{progress.ended:,} of {count_text(progress.requests, 'request')} ended"
    if progress.failed:
        text += f", {progress.failed:,} without a usable reply"
    unpriced = " and calls without a known price" if progress.unpriced_calls else ""
    text += f". {format_cost(progress.cost_nanos)}{unpriced}."
    reasons = dict.fromkeys(
        requests.run.reason
        for requests in progress.runs
        if requests.run.status is not RunStatus.OPEN and not requests.is_finished
    )
    note = [f"Test model: {TEST_MODEL_NOTE}."] if progress.jury.is_test else []
    return " ".join([text, *(reason for reason in reasons if reason), *note])


def _report_calls(report: Callable[[int], None], ended: int, calls: int) -> None:
    report(ended + calls)


def _store_results(*, by: Person, jury: Jury, now: datetime, engine: Engine | None) -> None:
    with unit_of_work(engine) as db:
        usable_votes = Counter[Check]()
        for judge in jury.judges:
            usable_votes[judge.check] += store_votes(db, by=by, judge=judge)
        update_results(db, by=by, jury=jury, usable_votes=usable_votes, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class JuryParameters:
    """The parameters of the job: the id of the jury."""

    jury_id: int


def _run(job: JobRun[JuryParameters]) -> None:
    jury_id = job.parameters.jury_id
    with job.read_session() as db:
        total = load_jury_progress(db, by=job.owner, jury_id=jury_id, now=job.now()).requests

    def report(ended: int) -> None:
        job.progress = JobProgress(done=min(total, ended), total=total, unit="requests")

    result = work_on_jury(
        by=job.owner,
        jury_id=jury_id,
        worker=job.worker_name,
        clock=job.now,
        report=report,
        should_stop=job.should_stop,
        is_replaced=job.lease_lost.is_set,
    )
    job.raise_if_cancelled()
    with job.transaction() as db:
        job.finish(db, describe_jury_progress(result))


JURY = JobKind(
    name="jury",
    title="Jury of language models",
    action=Action.RUN_MODELS,
    parameters=JuryParameters,
    run=_run,
    failure_prefix="The jury stopped.",
)
