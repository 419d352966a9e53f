"""The background job that generates questions into a file of the workspace, which is then imported."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.jobs import Job
from domain.people import Action, Person
from generation.service import choose_pilot_exams
from generation.source_exams import SourceContent
from generation.sources import load_source
from generation.templates.question_file import GenerationCounts, write_question_file
from jobs.encoding import from_json
from jobs.service import JobFailed, JobKind, JobRun
from ui.background_jobs import job_control
from ui.context import current_workspace
from ui.imports.deliveries import Delivery

#: The maximum number of refused records that are stored with the job.
MAX_REFUSALS_STORED = 200
_FILE_NAME = "questions.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """The parameters of a generation. ``images`` is None for questions without images."""

    source: str
    path: Path
    images: Path | None
    seed: int
    comparison: bool
    skip_bad: bool
    is_pilot: bool


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

    ``exams`` were used of ``available``; ``complete`` have the full number of each format. ``refused`` counts
    all refused records; ``refusals`` contains the first ones.
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


def start_generation(request: GenerationRequest, person: Person) -> Job:
    """Start a generation and return its job."""
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
    request, folder = decode_request(job), _folder_of(job)
    return Delivery(
        id=folder.name,
        path=folder / _FILE_NAME,
        name=f"{request.source}{'-pilot' if request.is_pilot else ''}.jsonl",
        images=request.images,
        uploaded=True,
    )


def _folder_of(job: Job) -> Path:
    return current_workspace().uploads / f"generated-{job.number}"


def _run(job: JobRun[GenerationRequest]) -> None:
    request, folder = job.parameters, _folder_of(job.job)
    content = load_source(
        request.source,
        request.path,
        report_progress=lambda done: job.report_progress(0, 0, note=f"{count_text(done, 'record')} read"),
    )
    if content.refusals and not request.skip_bad:
        raise JobFailed(
            f"Nothing was generated: {count_text(len(content.refusals), 'invalid record')}.",
            _summarise(content, GenerationCounts()),
        )
    if not content.exams:
        raise InvalidValue("source", f"{request.path} has no valid record")
    exams = choose_pilot_exams(content.exams) if request.is_pilot else content.exams
    shutil.rmtree(folder, ignore_errors=True)  # of an interrupted attempt
    folder.mkdir(parents=True)
    counts = write_question_file(
        folder / _FILE_NAME,
        exams,
        seed=request.seed,
        source=request.source,
        comparison=request.comparison,
        report_progress=lambda done: job.report_progress(done, len(exams), "exams"),
    )
    with job.transaction() as db:
        job.finish(db, _describe(counts), _summarise(content, counts))


def _describe(counts: GenerationCounts) -> str:
    with_questions = counts.exams - counts.without_questions
    return (
        f"{count_text(counts.questions, 'question')} generated: {with_questions:,} of "
        f"{count_text(counts.exams, 'exam')} allow questions."
    )


def _summarise(content: SourceContent, counts: GenerationCounts) -> GenerationOutcome:
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
        with_questions=counts.exams - counts.without_questions,
        complete=counts.complete,
        questions=counts.questions,
        formats={format_.label: count for format_, count in counts.formats.items()},
        tasks={task.label: count for task, count in counts.tasks.most_common()},
        not_built=dict(counts.not_built.most_common()),
        unused=dict(counts.unused.most_common()),
        ignored=dict(Counter(content.ignored).most_common()),
    )


GENERATION = JobKind(
    name="generation",
    title="Generation of questions",
    action=Action.IMPORT_QUESTIONS,
    parameters=GenerationRequest,
    run=_run,
    failure_prefix="Nothing was generated.",
)
