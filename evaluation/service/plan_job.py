"""Plans an evaluation with an endpoint as a job of the app: the requests of 41,007 questions take a while."""

from __future__ import annotations

from dataclasses import dataclass

from domain.jobs import JobProgress
from domain.language_models import Budget
from domain.people import Action
from evaluation.service.plans import PlanSettings, plan_with_endpoint
from jobs.service import JobKind, JobRun


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanParameters:
    """The parameters of the job, which are those of :func:`evaluation.service.plans.plan_with_endpoint`."""

    settings: PlanSettings
    endpoint: str
    prompt: str | None = None
    paraphrases_by: str | None = None
    budget: Budget | None = None


def _run(job: JobRun[PlanParameters]) -> None:
    parameters = job.parameters
    name = parameters.settings.name
    job.progress = JobProgress(note=f"Preparing the requests of {name}")
    with job.transaction() as db:
        plan_with_endpoint(
            db,
            by=job.owner,
            settings=parameters.settings,
            endpoint=parameters.endpoint,
            prompt=parameters.prompt,
            paraphrases_by=parameters.paraphrases_by,
            budget=parameters.budget,
            now=job.now(),
        )
        job.raise_if_cancelled()
        job.finish(db, f"Planned {name}. No request has been sent; start it above.")


EVALUATION_PLAN = JobKind(
    name="evaluation plan",
    title="Plan of an evaluation",
    action=Action.RUN_MODELS,
    parameters=PlanParameters,
    run=_run,
    failure_prefix="The evaluation was not planned.",
)
