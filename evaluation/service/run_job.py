"""Runs an evaluation with an endpoint, as a command or a job of the app, one condition after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine
from sqlmodel import Session

from domain.count_texts import count_text
from domain.errors import Refused
from domain.evaluations import AnsweredBy, Condition, Evaluation, EvaluationRun
from domain.jobs import JobProgress
from domain.language_models import RunProgress, format_cost
from domain.people import Action, Person, require
from evaluation.service.answers import store_replies
from evaluation.service.paraphrases import add_paraphrased_condition, find_paraphrase_run
from evaluation.service.plans import load_evaluation
from jobs.service import JobKind, JobRun
from language_models import service as models
from storage.unit_of_work import read_only_session, unit_of_work


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionProgress:
    """A condition; ``requests`` is None without a run of requests, as for a command or a file."""

    run: EvaluationRun
    requests: RunProgress | None

    @property
    def cost_nanos(self) -> int:
        """The cost so far in nano-dollars."""
        return self.requests.run.cost_nanos if self.requests else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationProgress:
    """An evaluation with the progress of each condition.

    ``paraphrases`` is the run that writes paraphrases; None if the plan has none. The condition "paraphrased"
    is added when that run has ended.
    """

    evaluation: Evaluation
    conditions: tuple[ConditionProgress, ...]
    paraphrases: RunProgress | None = None

    @property
    def cases(self) -> int:
        """The number of questions to be answered, over all conditions."""
        return sum(condition.run.cases for condition in self.conditions)

    @property
    def requests(self) -> int:
        """The number of requests: cases, and paraphrases to be written."""
        return self.cases + (self.paraphrases.run.requests if self.paraphrases else 0)

    @property
    def needs_paraphrases(self) -> bool:
        """Whether the condition "paraphrased" is planned and its cases are not known yet."""
        return self.paraphrases is not None and all(
            condition.run.condition is not Condition.PARAPHRASED for condition in self.conditions
        )

    @property
    def answers(self) -> int:
        """The number of stored answers."""
        return sum(condition.run.predictions for condition in self.conditions)

    @property
    def ended(self) -> int:
        """The number of requests that are done or failed, or of stored answers without an endpoint."""
        paraphrases = self.paraphrases.ended if self.paraphrases else 0
        return paraphrases + sum(
            condition.requests.ended if condition.requests else condition.run.predictions
            for condition in self.conditions
        )

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to be asked or stored."""
        return not self.needs_paraphrases and all(
            condition.run.is_finished if condition.requests is None else condition.requests.is_finished
            for condition in self.conditions
        )

    @property
    def cost_nanos(self) -> int:
        """The cost so far in nano-dollars."""
        paraphrases = self.paraphrases.run.cost_nanos if self.paraphrases else 0
        return paraphrases + sum(condition.cost_nanos for condition in self.conditions)


def load_progress(db: Session, *, by: Person, name: str, now: datetime) -> EvaluationProgress:
    """Return an evaluation with the progress of its conditions.

    Raises:
        NotFound: there is no such evaluation.
    """
    require(by, Action.RUN_MODELS)
    evaluation, runs = load_evaluation(db, by=by, name=name)
    paraphrases = find_paraphrase_run(db, by=by, name=name)
    return EvaluationProgress(
        evaluation=evaluation,
        paraphrases=models.load_progress(db, by=by, name=paraphrases.name, now=now) if paraphrases else None,
        conditions=tuple(
            ConditionProgress(
                run=run,
                requests=models.load_progress(db, by=by, name=run.model_run, now=now)
                if run.model_run
                else None,
            )
            for run in runs
        ),
    )


def open_evaluation(
    db: Session, *, by: Person, name: str, retry_failed: bool = False, now: datetime
) -> EvaluationProgress:
    """Let the unfinished runs of an evaluation continue. The caller then starts a process that works on it.

    Raises:
        NotFound: there is no such evaluation.
        Refused: a command or files answer it, or the dataset does not permit the endpoint any more.
    """
    require(by, Action.RUN_MODELS)
    progress = load_progress(db, by=by, name=name, now=now)
    _require_endpoint(progress.evaluation)
    for requests in list_request_runs(progress):
        # Failed paraphrases are final once the condition has its cases.
        is_retried = retry_failed and (requests is not progress.paraphrases or progress.needs_paraphrases)
        if is_retried or not requests.is_finished:
            models.resume_run(db, by=by, name=requests.run.name, retry_failed=is_retried, now=now)
    return load_progress(db, by=by, name=name, now=now)


def pause_evaluation(db: Session, *, by: Person, name: str, now: datetime) -> None:
    """Pause the unfinished runs of an evaluation. Calls under way are finished and stored.

    Raises:
        NotFound: there is no such evaluation.
        Refused: a command or files answer it.
    """
    require(by, Action.RUN_MODELS)
    progress = load_progress(db, by=by, name=name, now=now)
    _require_endpoint(progress.evaluation)
    for requests in list_request_runs(progress):
        if not requests.is_finished:
            models.pause_run(db, by=by, name=requests.run.name)


def list_request_runs(progress: EvaluationProgress) -> list[RunProgress]:
    """Return the runs of requests in the order in which they are worked on: paraphrases first."""
    runs = [progress.paraphrases, *(condition.requests for condition in progress.conditions)]
    return [run for run in runs if run is not None]


def work_on_evaluation(
    *,
    by: Person,
    name: str,
    worker: str,
    clock: Callable[[], datetime],
    report: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    engine: Engine | None = None,
) -> EvaluationProgress:
    """Make the calls of all conditions, store the answers, and return the progress.

    Work stops at the first paused condition. The replies of that condition are stored as answers, too.

    Args:
        by: the acting person.
        name: the evaluation.
        worker: a name that is unique among all processes.
        clock: returns the current time.
        report: called often with the number of requests that have ended, over all conditions.
        should_stop: whether to stop.
        engine: the database; None for the one that the environment names.

    Raises:
        NotFound: there is no such evaluation.
        Refused: a command or files answer it, or a run is paused.
    """
    with read_only_session(engine) as db:
        progress = load_progress(db, by=by, name=name, now=clock())
    _require_endpoint(progress.evaluation)

    def work_on_requests(requests: RunProgress, ended_before: int) -> RunProgress:
        return models.work_on_run(
            by=by,
            name=requests.run.name,
            worker=worker,
            clock=clock,
            report=lambda calls: report(ended_before + calls),
            should_stop=should_stop,
            engine=engine,
        )

    if progress.paraphrases and progress.needs_paraphrases:
        paraphrases = work_on_requests(progress.paraphrases, progress.ended)
        if paraphrases.is_finished:
            with unit_of_work(engine) as db:
                add_paraphrased_condition(db, by=by, name=name, now=clock())
        with read_only_session(engine) as db:
            progress = load_progress(db, by=by, name=name, now=clock())
        if not paraphrases.is_finished:
            return progress
    ended = progress.ended
    for condition_progress in progress.conditions:
        if should_stop():
            break
        if condition_progress.requests is None:  # no paraphrase was accepted
            continue
        condition_ended_before = condition_progress.requests.ended
        result = work_on_requests(condition_progress.requests, ended)
        ended += result.ended - condition_ended_before
        _store_replies(
            by=by, name=name, condition=condition_progress.run.condition, now=clock(), engine=engine
        )
        if not result.is_finished:
            break
    with read_only_session(engine) as db:
        return load_progress(db, by=by, name=name, now=clock())


def describe_progress(progress: EvaluationProgress) -> str:
    """Describe how far an evaluation is, in one or two sentences."""
    runs = list_request_runs(progress)
    failed = sum(sum(requests.failures.values()) for requests in runs)
    text = f"{progress.answers:,} of {count_text(progress.cases, 'answer')} stored"
    if failed:
        text += f", {failed:,} without a usable reply"
    text += f". {format_cost(progress.cost_nanos)}."
    reasons = dict.fromkeys(
        requests.run.reason for requests in runs if requests.run.reason and not requests.is_finished
    )
    return " ".join([text, *reasons])


def _store_replies(
    *, by: Person, name: str, condition: Condition, now: datetime, engine: Engine | None
) -> None:
    with unit_of_work(engine) as db:
        outcome = store_replies(db, by=by, name=name, condition=condition, now=now)
        if outcome.refusals:  # a reply is free text, for which extraction never refuses
            raise ValueError(f"replies were refused: {outcome.refusals[0]}")


def _require_endpoint(evaluation: Evaluation) -> None:
    if evaluation.answered_by is not AnsweredBy.ENDPOINT:
        raise Refused(
            f"The answers of {evaluation.name} come from a {evaluation.answered_by.value}, so it is not "
            f"started here. "
            "See `cli.py evaluate --help`."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationParameters:
    """The parameters of the job: the name of the evaluation."""

    name: str


def _run(job: JobRun[EvaluationParameters]) -> None:
    name = job.parameters.name
    with job.read_session() as db:
        total = load_progress(db, by=job.owner, name=name, now=job.now()).requests

    def report(ended: int) -> None:
        job.progress = JobProgress(done=ended, total=max(total, ended), unit="requests")

    result = work_on_evaluation(
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


EVALUATION = JobKind(
    name="evaluation",
    title="Evaluation of a model",
    action=Action.RUN_MODELS,
    parameters=EvaluationParameters,
    run=_run,
    failure_prefix="The evaluation stopped.",
)
