"""Services for recipes: one ordinary model run per stage, then the question file.

Only the runs are stored. The same plan and source lead to the same requests, so a repeated command
continues where it stopped, and the questions follow from the replies in the ledger.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import chain, count
from pathlib import Path
from typing import Protocol

import msgspec
from sqlalchemy import Engine
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.count_texts import count_text
from domain.errors import AlreadyThere, InvalidValue, Refused
from domain.language_models import (
    DEFAULT_DATA_USE,
    Budget,
    DataUse,
    Endpoint,
    ModelRun,
    RunProgress,
    describe_permitted,
    format_cost,
)
from domain.people import Action, Person, require
from domain.provenance import CallReference
from domain.vocabulary import AnswerFormat, Task
from generation.generated_questions import GeneratedQuestion
from generation.question_files import encode_questions, writing_files
from generation.recipes import Recipe
from generation.recipes.short_replies import limit_numbers, shorten_replies
from generation.recipes.stages import Material, Stage, make_material
from generation.source_exams import SourceExam
from generation.templates.selection import PER_EXAM
from language_models import service as models
from language_models.prompts import Prompt, parse_prompt
from language_models.requests import ModelRequest
from storage.intake.datasets import find_dataset_id
from storage.unit_of_work import read_only_session, unit_of_work

__all__ = [
    "PILOT_EXAMS",
    "GenerationPlan",
    "GenerationResult",
    "RecipeCounts",
    "StageRun",
    "choose_pilot_exams",
    "describe_forecast",
    "left_out_path",
    "prepare_stage",
    "run_recipe",
    "write_recipe_questions",
]

#: The number of exams of a pilot.
PILOT_EXAMS = 20
#: The seed of pilots: a repeated pilot has the same exams.
_PILOT_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPlan:
    """What is generated from a source.

    Attributes:
        name: the beginning of the names of the runs.
        recipe: the recipe.
        source: the name of the source, such as openi-csv.
        endpoint: the name of the endpoint.
        prompts: prompt versions such as gemex-regions@2; stages without one use the shipped prompt.
        short_replies: whether shipped prompts are shortened for a small model.
        dataset: the dataset that the questions are imported into, whose data use applies.
        data_use: what the licence of the reports permits; used if the dataset does not exist.
        comparison: whether the reports in the file keep their section on prior exams.
        budget: limits of all stages together.
        is_pilot: whether these are the runs of a pilot. The run on all exams reuses its replies.
    """

    name: str
    recipe: Recipe
    source: str
    endpoint: str
    prompts: tuple[str, ...] = ()
    short_replies: bool = False
    dataset: str | None = None
    data_use: DataUse | None = None
    comparison: bool = True
    budget: Budget = field(default_factory=Budget)
    is_pilot: bool = False

    def name_run(self, stage: Stage) -> str:
        """Return the name of the run of a stage."""
        return f"{self.name} {'pilot ' if self.is_pilot else ''}{stage.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRun:
    """A stage with its run and the label of its prompt version."""

    stage: Stage
    run: ModelRun
    prompt: str


@dataclass(slots=True, kw_only=True)
class RecipeCounts:
    """Counts of a recipe. ``left_out`` counts omissions by title of the stage and kind.

    ``complete`` is the number of exams with 3 open, 2 closed, 3 single and 3 multiple choice questions.
    """

    exams: int = 0
    with_questions: int = 0
    complete: int = 0
    formats: Counter[AnswerFormat] = field(default_factory=Counter)
    tasks: Counter[Task] = field(default_factory=Counter)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def questions(self) -> int:
        """The number of questions."""
        return sum(self.formats.values())

    def add(self, questions: Sequence[GeneratedQuestion]) -> None:
        """Count the questions of an exam."""
        formats = Counter(generated.question.format for generated in questions)
        self.with_questions += bool(questions)
        self.complete += formats == Counter(PER_EXAM)
        self.formats.update(formats)
        self.tasks.update(generated.question.task for generated in questions if generated.question.task)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationResult:
    """The runs so far, and the ``counts``, which are None if a run is not finished."""

    runs: tuple[RunProgress, ...]
    counts: RecipeCounts | None


def choose_pilot_exams(exams: Sequence[SourceExam]) -> list[SourceExam]:
    """Choose the exams of a pilot at random, keeping their order; all exams if there are not more."""
    if len(exams) <= PILOT_EXAMS:
        return list(exams)
    chosen = sorted(random.Random(_PILOT_SEED).sample(range(len(exams)), PILOT_EXAMS))  # noqa: S311 - no secret
    return [exams[index] for index in chosen]


def describe_forecast(result: GenerationResult, *, exams: int) -> str:
    """Estimate the whole run from a finished pilot, in one sentence."""
    counts, runs = result.counts, result.runs
    if counts is None:
        raise ValueError("the pilot is not finished")
    factor = exams / counts.exams
    calls = sum(progress.run.calls for progress in runs)
    tokens = sum(progress.run.prompt_tokens + progress.run.completion_tokens for progress in runs)
    is_priced = not any(progress.run.unpriced_calls for progress in runs)
    cost = sum(progress.run.cost_nanos for progress in runs)
    cost_text = format_cost(round(cost * factor)) if is_priced else "unknown"
    return (
        f"Estimate for all {count_text(exams, 'exam')} from {counts.exams:,}: {calls * factor:,.0f} calls, "
        f"{tokens * factor:,.0f} tokens, cost {cost_text}, {counts.questions * factor:,.0f} questions."
    )


def left_out_path(path: Path) -> Path:
    """Return the path of the list of what was left out, beside the question file.

    >>> left_out_path(Path("questions.jsonl")).name
    'questions.left-out.jsonl'
    """
    return path.with_name(f"{path.name.removesuffix('.jsonl')}.left-out.jsonl")


def run_recipe(
    *,
    by: Person,
    plan: GenerationPlan,
    exams: Sequence[SourceExam],
    path: Path,
    worker: str,
    clock: Callable[[], datetime],
    report: Callable[[str, int, int], None] = lambda _title, _done, _total: None,
    should_stop: Callable[[], bool] = lambda: False,
    retry_failed: bool = False,
    lease: timedelta = models.LEASE,
    engine: Engine | None = None,
) -> GenerationResult:
    """Run all stages and write the question file, or stop when asked to and continue at the next call.

    Args:
        by: the acting person.
        plan: what is generated.
        exams: the exams of the source, the same ones in each call.
        path: the question file; what was left out is listed beside it.
        worker: a name that is unique among all processes.
        clock: returns the current time.
        report: called often with the title of the stage, the number of ended requests and the total.
        should_stop: whether to stop.
        retry_failed: whether failed requests are called again.
        lease: how long requests are held without a sign of life of this process.
        engine: the database; None for the one that the environment names.

    Raises:
        AlreadyThere: the first run exists with other requests, or the file exists with other content.
        Refused: the data use does not permit the endpoint, or a run was cancelled.
        NotFound: there is no such endpoint or prompt version.
        InvalidValue: a prompt is for no stage, the name is not allowed, or the budget is used up.
    """
    require(by, Action.RUN_MODELS)
    stage_runs: list[StageRun] = []
    progresses: list[RunProgress] = []
    for stage in plan.recipe.stages:
        with unit_of_work(engine) as db:
            stage_run = prepare_stage(
                db,
                by=by,
                plan=plan,
                exams=exams,
                earlier=stage_runs,
                retry_failed=retry_failed,
                report=partial(_report_exams, report, f"{stage.title}, requests", len(exams)),
                now=clock(),
            )
        if stage_run is None:
            break
        stage_runs.append(stage_run)
        name, total = stage_run.run.name, stage_run.run.requests
        with read_only_session(engine) as db:
            ended = models.load_progress(db, by=by, name=name, now=clock()).ended
        progress = models.work_on_run(
            by=by,
            name=name,
            worker=worker,
            clock=clock,
            report=partial(_report_calls, report, stage.title, ended, total),
            should_stop=should_stop,
            lease=lease,
            engine=engine,
        )
        progresses.append(progress)
        if not progress.is_finished:
            return GenerationResult(runs=tuple(progresses), counts=None)
    with read_only_session(engine) as db:
        counts = write_recipe_questions(
            db,
            by=by,
            plan=plan,
            exams=exams,
            stages=stage_runs,
            path=path,
            report=partial(_report_exams, report, "Exams with questions", len(exams)),
        )
    return GenerationResult(runs=tuple(progresses), counts=counts)


def prepare_stage(
    db: Session,
    *,
    by: Person,
    plan: GenerationPlan,
    exams: Sequence[SourceExam],
    earlier: Sequence[StageRun],
    retry_failed: bool = False,
    report: Callable[[int], None] = lambda _: None,
    now: datetime,
) -> StageRun | None:
    """Create the run of the next stage, or open the one that exists. Nothing is sent yet.

    A later stage gets another run if the replies of the earlier ones have changed, as after a retry.

    Args:
        db: a session that can write.
        by: the acting person.
        plan: what is generated.
        exams: the exams of the source.
        earlier: the finished stages.
        retry_failed: whether failed requests are called again.
        report: called with the number of requests that are prepared.
        now: the current time.

    Returns:
        The stage with its run; None if no exam is left for it.

    Raises:
        AlreadyThere: the run of the first stage exists with other requests or another endpoint.
        Refused: the data use does not permit the endpoint, or the run was cancelled.
        NotFound: there is no such endpoint or prompt version.
        InvalidValue: a prompt is for no stage, the name is not allowed, or the budget is used up.
    """
    require(by, Action.RUN_MODELS)
    stage = plan.recipe.stages[len(earlier)]
    endpoint = models.load_endpoint(db, by=by, name=plan.endpoint)
    dataset = _check_data_use(db, by, plan, endpoint)
    prompt = _load_prompt(db, by, plan, stage, now)
    parsed_prompt = parse_prompt(prompt.content)

    @cache
    def adapt(lines: int) -> Prompt:
        if not plan.short_replies or parsed_prompt.schema is None:
            return parsed_prompt
        return replace(parsed_prompt, schema=limit_numbers(parsed_prompt.schema, lines=lines))

    def build_requests() -> Iterator[ModelRequest]:
        prepared_count = 0
        for material in _iterate_materials(db, by=by, plan=plan, exams=exams, stages=earlier):
            values = stage.fill(material, _ignore_omission)
            if values is not None:
                prepared_count += 1
                report(prepared_count)
                lines = stage.count_lines(material)
                yield adapt(lines).build_request(custom_id=material.exam.id, values=values)

    requests = build_requests()
    first_request = next(requests, None)
    if first_request is None:
        return None
    budget = _subtract_spent(plan.budget, [stage_run.run.name for stage_run in earlier], db, by, now)
    for number in count(1):
        name = plan.name_run(stage) + (f" {number}" if number > 1 else "")
        try:
            run, is_new = models.create_run(
                db,
                by=by,
                name=name,
                stage=stage.name,
                endpoint=endpoint,
                dataset=dataset,
                requests=chain([first_request], requests) if number == 1 else build_requests(),
                prompt=prompt,
                budget=budget,
                now=now,
            )
        except AlreadyThere:
            if not earlier:
                raise
            continue
        break
    if is_new:
        _record_start(db, by, plan, run, now)
    else:
        new_budget = budget if plan.budget != Budget() else None
        run = _reopen_run(db, by, run, budget=new_budget, retry_failed=retry_failed, now=now)
    return StageRun(stage=stage, run=run, prompt=prompt.label)


def write_recipe_questions(
    db: Session,
    *,
    by: Person,
    plan: GenerationPlan,
    exams: Sequence[SourceExam],
    stages: Sequence[StageRun],
    path: Path,
    report: Callable[[int], None] = lambda _: None,
) -> RecipeCounts:
    """Write the questions that follow from the replies in the ledger, and the list of what was left out.

    The files appear when they are complete. A question file with the same content may exist, or an empty one.

    Args:
        db: a session.
        by: the acting person.
        plan: what is generated.
        exams: the exams of the source.
        stages: the stages with their finished runs; fewer than all if no exam was left.
        path: the question file.
        report: called with the number of exams that have questions.

    Raises:
        AlreadyThere: the question file exists with other content.
    """
    require(by, Action.RUN_MODELS)
    counts = RecipeCounts(exams=len(exams))
    unreached_stage = plan.recipe.stages[len(stages)] if len(stages) < len(plan.recipe.stages) else None
    with writing_files(path, left_out_path(path), keep_same=True) as (file, left_out_file):

        def record_stage_omission(stage: Stage, exam: str, kind: str, detail: str = "") -> None:
            counts.left_out[stage.title, kind] += 1
            line = {"exam": exam, "stage": stage.name, "kind": kind, "detail": detail}
            left_out_file.write(msgspec.json.encode(line) + b"\n")

        for material in _iterate_materials(
            db, by=by, plan=plan, exams=exams, stages=stages, record_stage_omission=record_stage_omission
        ):
            if unreached_stage is not None:
                unreached_stage.fill(
                    material, partial(record_stage_omission, unreached_stage, material.exam.id)
                )
            file.writelines(encode_questions(material.exam, material.questions, comparison=plan.comparison))
            counts.add(material.questions)
            report(counts.with_questions)
    return counts


class _RecordStageOmission(Protocol):
    def __call__(self, stage: Stage, exam: str, kind: str, detail: str = "") -> None: ...


def _ignore_omission(*_: object, **__: object) -> None:
    """Do nothing: omissions are recorded when the questions are written."""


def _iterate_materials(
    db: Session,
    *,
    by: Person,
    plan: GenerationPlan,
    exams: Sequence[SourceExam],
    stages: Sequence[StageRun],
    record_stage_omission: _RecordStageOmission = _ignore_omission,
) -> Iterator[Material]:
    """Yield the material of each exam after these stages, from the replies in the ledger."""
    materials: Iterator[Material] = (make_material(exam, source=plan.source) for exam in exams)
    for stage_run in stages:
        materials = _apply_stage(db, by, stage_run, materials, record_stage_omission)
    return materials


def _apply_stage(
    db: Session,
    by: Person,
    stage_run: StageRun,
    materials: Iterator[Material],
    record_stage_omission: _RecordStageOmission,
) -> Iterator[Material]:
    """Yield the materials after a stage. The requests of its run are in the order of the materials."""
    stage, run = stage_run.stage, stage_run.run
    replies = models.iterate_replies(db, by=by, name=run.name)
    for material in materials:
        record_omission = partial(record_stage_omission, stage, material.exam.id)
        if stage.fill(material, record_omission) is None:
            continue
        reply = next(replies, None)
        if reply is None or reply.custom_id != material.exam.id:
            raise ValueError(f"run {run.name} has no request for exam {material.exam.id} in this place")
        if reply.output is None:
            record_omission(f"no usable reply: {reply.failure or 'not called'}")
            continue
        call = CallReference(
            stage=stage.name,
            prompt=stage_run.prompt,
            model=reply.model or run.endpoint.model,
            run=run.name,
            request=reply.custom_id,
            key=reply.key,
        )
        yield stage.read(replace(material, calls=(*material.calls, call)), reply.output, record_omission)


def _check_data_use(db: Session, by: Person, plan: GenerationPlan, endpoint: Endpoint) -> str | None:
    """Check that the reports may be sent, and return the dataset if it exists.

    Raises:
        Refused: they may not.
    """
    dataset_id = None if plan.dataset is None else find_dataset_id(db, name=plan.dataset)
    if dataset_id is not None:  # the run checks its data use, also when requests are claimed
        return plan.dataset
    if plan.data_use is not None:
        require(by, Action.PROTECT_PATIENTS)
    permitted = plan.data_use or DEFAULT_DATA_USE
    if not permitted.permits(endpoint.data_use):
        raise Refused(
            f"Not sent: endpoint {endpoint.name} is {endpoint.data_use.value}, and the reports of a source "
            f"may go to local endpoints only, unless --data-use states what their licence permits."
            if plan.data_use is None
            else f"Not sent: endpoint {endpoint.name} is {endpoint.data_use.value}, and the stated "
            f"licence permits {describe_permitted(permitted)}."
        )
    return None


def _load_prompt(
    db: Session, by: Person, plan: GenerationPlan, stage: Stage, now: datetime
) -> models.PromptVersion:
    """Load the chosen prompt version of a stage; by default the shipped one, which is stored if necessary."""
    names = [recipe_stage.name for recipe_stage in plan.recipe.stages]
    chosen = None
    for label in plan.prompts:
        name = label.partition("@")[0]
        if name not in names:
            raise InvalidValue("prompt", f"{label} is for no stage; the stages are {', '.join(names)}")
        if name == stage.name:
            chosen = label
    if chosen is not None:
        return models.load_prompt(db, by=by, label=chosen)
    content = stage.read_shipped_prompt()
    if plan.short_replies:
        content = shorten_replies(content)
    return models.save_shipped_prompt(db, by=by, content=content, now=now)


def _reopen_run(
    db: Session, by: Person, run: ModelRun, *, budget: Budget | None, retry_failed: bool, now: datetime
) -> ModelRun:
    """Open a run that exists, as `cli.py run resume` does."""
    progress = models.load_progress(db, by=by, name=run.name, now=now)
    if progress.is_finished and not (retry_failed and progress.failures):
        return run
    return models.resume_run(db, by=by, name=run.name, retry_failed=retry_failed, budget=budget, now=now)


def _subtract_spent(
    budget: Budget, earlier_runs: Sequence[str], db: Session, by: Person, now: datetime
) -> Budget:
    """Return what the earlier stages have left of a budget.

    Raises:
        InvalidValue: nothing is left.
    """
    runs = [models.load_progress(db, by=by, name=name, now=now).run for name in earlier_runs]
    remaining = Budget(
        max_calls=_subtract(budget.max_calls, sum(run.calls for run in runs)),
        max_tokens=_subtract(
            budget.max_tokens, sum(run.prompt_tokens + run.completion_tokens for run in runs)
        ),
        max_cost_nanos=_subtract(budget.max_cost_nanos, sum(run.cost_nanos for run in runs)),
    )
    if any(
        limit is not None and limit <= 0
        for limit in (remaining.max_calls, remaining.max_tokens, remaining.max_cost_nanos)
    ):
        raise InvalidValue("budget", "is used up by the earlier stages; raise it to go on")
    return remaining


def _subtract(limit: int | None, spent: int) -> int | None:
    return None if limit is None else limit - spent


def _record_start(db: Session, by: Person, plan: GenerationPlan, run: ModelRun, now: datetime) -> None:
    """Note in the audit trail what a run is for, and what was stated about the licence."""
    record_action(
        db,
        by=by,
        action="generate questions",
        subject=f"model run {run.id}",
        new={
            "recipe": plan.recipe.name,
            "source": plan.source,
            "dataset": plan.dataset,
            "data use": plan.data_use.value if plan.data_use else None,
        },
        now=now,
    )


def _report_exams(report: Callable[[str, int, int], None], title: str, total: int, done: int) -> None:
    report(title, done, total)


def _report_calls(
    report: Callable[[str, int, int], None], title: str, ended: int, total: int, calls: int
) -> None:
    report(title, min(total, ended + calls), total)
