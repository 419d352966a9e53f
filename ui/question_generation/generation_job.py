"""The background job that generates questions into a file of the workspace, which is then imported."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.jobs import Job, JobProgress
from domain.language_models import DEFAULT_DATA_USE, Budget, DataUse
from domain.people import Action, Person
from domain.vocabulary import AnswerFormat
from generation.recipes import RECIPES
from generation.service import (
    GenerationPlan,
    RecipeCounts,
    choose_pilot_exams,
    describe_forecast,
    run_recipe,
)
from generation.source_exams import SourceContent, SourceExam
from generation.sources import load_source
from generation.templates.question_file import GenerationCounts, write_question_file
from generation.templates.selection import PER_EXAM, check_per_exam
from jobs.encoding import from_json
from jobs.service import JobFailed, JobKind, JobRun
from language_models.service import describe_progress
from ui.background_jobs import job_control
from ui.context import current_workspace
from ui.imports.deliveries import Delivery

#: The maximum number of refused records that are stored with the job.
MAX_REFUSALS_STORED = 200
#: The recipe without a model.
TEMPLATE = "template"
_FILE_NAME = "questions.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """The parameters of a generation. ``images`` is None for questions without images.

    ``per_exam`` is the maximum number of questions by format, for templates.
    ``recipe`` is :data:`TEMPLATE` or one of :data:`generation.recipes.RECIPES`. The fields from ``name`` on
    are for recipes: the beginning of the names of the runs, the endpoint, prompt versions to use instead of
    the shipped ones, whether shipped prompts request short replies, what the licence of the reports permits,
    and the maximum cost of all runs in dollars.
    """

    source: str
    path: Path
    images: Path | None
    seed: int
    comparison: bool
    skip_bad: bool
    is_pilot: bool
    recipe: str = TEMPLATE
    per_exam: dict[AnswerFormat, int] = field(default_factory=lambda: dict(PER_EXAM))
    name: str = ""
    endpoint: str = ""
    prompts: tuple[str, ...] = ()
    short_replies: bool = False
    data_use: DataUse = DEFAULT_DATA_USE
    max_cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedRecord:
    """Why a record of the source was refused."""

    file: str
    record: str
    field: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationOutcome:
    """The counts of a generation, by label or by reason.

    Of the ``available`` exams, ``exams`` were used, and ``complete`` have the full number of questions of
    each format. ``refused`` counts all refused records; ``refusals`` contains the first ones. ``runs`` are
    the model runs.
    """

    available: int
    refused: int
    refusals: tuple[RefusedRecord, ...]
    exams: int = 0
    with_questions: int = 0
    complete: int = 0
    questions: int = 0
    formats: dict[str, int]
    tasks: dict[str, int]
    not_built: dict[str, int]
    unused: dict[str, int]
    ignored: dict[str, int]
    runs: tuple[str, ...] = ()


def start_generation(request: GenerationRequest, person: Person) -> Job:
    """Start a generation and return its job.

    Raises:
        InvalidValue: the numbers of questions per exam are out of range.
    """
    check_per_exam(request.per_exam)
    return job_control.start_job(GENERATION, request, by=person)


def load_own_latest_generation(person: Person) -> Job | None:
    """Return the job of the person's latest generation; None if there is none or it was dismissed."""
    return job_control.load_own_latest_job(GENERATION, by=person)


def decode_request(job: Job) -> GenerationRequest:
    """Return the parameters of a generation."""
    return GENERATION.decode(job.parameters)


def decode_outcome(job: Job) -> GenerationOutcome | None:
    """Return the outcome of a generation; None if the job has stored none."""
    return from_json(job.result, GenerationOutcome) if job.result else None


def find_generated_file(job: Job) -> Delivery:
    """Return the generated file with the images as a delivery. The file is deleted after the import."""
    request, folder = decode_request(job), _get_folder(job)
    return Delivery(
        id=folder.name,
        path=folder / _FILE_NAME,
        name=f"{request.source}{'-pilot' if request.is_pilot else ''}.jsonl",
        images=request.images,
        uploaded=True,
    )


def _get_folder(job: Job) -> Path:
    return current_workspace().uploads / f"generated-{job.number}"


def _run(job: JobRun[GenerationRequest]) -> None:
    request, folder = job.parameters, _get_folder(job.job)
    content = load_source(
        request.source,
        request.path,
        report_progress=lambda done: job.report_progress(0, 0, note=f"{count_text(done, 'record')} read"),
    )
    if content.refusals and not request.skip_bad:
        raise JobFailed(
            f"Nothing was generated: {count_text(len(content.refusals), 'invalid record')}.",
            _summarise_outcome(content, GenerationCounts()),
        )
    if not content.exams:
        raise InvalidValue("source", f"{request.path} has no valid record")
    exams = choose_pilot_exams(content.exams) if request.is_pilot else content.exams
    shutil.rmtree(folder, ignore_errors=True)  # files of an interrupted attempt
    folder.mkdir(parents=True)
    if request.recipe == TEMPLATE:
        message, outcome = _write_from_templates(job, content, exams, folder / _FILE_NAME)
    else:
        message, outcome = _write_with_model(job, content, exams, folder / _FILE_NAME)
    with job.transaction() as db:
        job.finish(db, message, outcome)


def _write_from_templates(
    job: JobRun[GenerationRequest], content: SourceContent, exams: Sequence[SourceExam], path: Path
) -> tuple[str, GenerationOutcome]:
    request = job.parameters
    counts = write_question_file(
        path,
        exams,
        seed=request.seed,
        source=request.source,
        comparison=request.comparison,
        per_exam=request.per_exam,
        report_progress=lambda done: job.report_progress(done, len(exams), "exams"),
    )
    with_questions = counts.exams - counts.without_questions
    message = (
        f"{count_text(counts.questions, 'question')} generated for {with_questions:,} of "
        f"{count_text(counts.exams, 'exam')}."
    )
    return message, _summarise_outcome(content, counts)


def _write_with_model(
    job: JobRun[GenerationRequest], content: SourceContent, exams: Sequence[SourceExam], path: Path
) -> tuple[str, GenerationOutcome]:
    """Run the stages of a recipe. An attempt after a restart continues with the stored replies."""
    request = job.parameters
    max_cost_nanos = None if request.max_cost is None else round(request.max_cost * 1_000_000_000)
    plan = GenerationPlan(
        name=request.name,
        recipe=RECIPES[request.recipe],
        source=request.source,
        endpoint=request.endpoint,
        prompts=request.prompts,
        short_replies=request.short_replies,
        data_use=None if request.data_use is DEFAULT_DATA_USE else request.data_use,
        comparison=request.comparison,
        budget=Budget(max_cost_nanos=max_cost_nanos),
        is_pilot=request.is_pilot,
    )

    def report_progress(title: str, done: int, total: int) -> None:
        job.progress = JobProgress(done=done, total=total, note=title)

    result = run_recipe(
        by=job.owner,
        plan=plan,
        exams=exams,
        path=path,
        worker=job.worker_name,
        clock=job.now,
        report=report_progress,
        should_stop=job.should_stop,
    )
    job.raise_if_cancelled()
    runs = tuple(progress.run.name for progress in result.runs)
    if result.counts is None:
        raise JobFailed(
            f"Not finished. {describe_progress(result.runs[-1])} Run again to continue.",
            replace(_summarise_outcome(content, GenerationCounts()), runs=runs),
        )
    counts = result.counts
    message = (
        f"{count_text(counts.questions, 'question')} generated for {counts.with_questions:,} of "
        f"{count_text(counts.exams, 'exam')}."
    )
    if request.is_pilot and counts.exams:
        message += f" {describe_forecast(result, exams=len(content.exams))}"
    return message, _summarise_outcome(content, counts, runs=runs)


def _summarise_outcome(
    content: SourceContent, counts: GenerationCounts | RecipeCounts, *, runs: tuple[str, ...] = ()
) -> GenerationOutcome:
    if isinstance(counts, RecipeCounts):
        left_out = {f"{stage}: {kind}": count for (stage, kind), count in counts.left_out.most_common()}
        with_questions, unused = counts.with_questions, Counter[str]()
    else:
        left_out = dict(counts.not_built.most_common())
        with_questions, unused = counts.exams - counts.without_questions, counts.unused
    return GenerationOutcome(
        available=len(content.exams),
        refused=len(content.refusals),
        refusals=tuple(
            RefusedRecord(
                file=refusal.file, record=refusal.record, field=refusal.field, reason=refusal.reason
            )
            for refusal in content.refusals[:MAX_REFUSALS_STORED]
        ),
        exams=counts.exams,
        with_questions=with_questions,
        complete=counts.complete,
        questions=counts.questions,
        formats={format_.label: count for format_, count in counts.formats.items()},
        tasks={task.label: count for task, count in counts.tasks.most_common()},
        not_built=left_out,
        unused=dict(unused.most_common()),
        ignored=dict(Counter(content.ignored).most_common()),
        runs=runs,
    )


GENERATION = JobKind(
    name="generation",
    title="Generation of questions",
    action=Action.IMPORT_QUESTIONS,
    parameters=GenerationRequest,
    run=_run,
    failure_prefix="Nothing was generated.",
)
