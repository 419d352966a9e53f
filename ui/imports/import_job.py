"""The background job that imports a question file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from domain.count_texts import count_text
from domain.jobs import Job
from domain.people import Action, Person
from intake.service import (
    ImportProgress,
    ImportRefused,
    ImportReport,
    import_questions,
    load_deidentification,
    load_mapping,
)
from jobs.encoding import from_json
from jobs.service import JobFailed, JobKind, JobRun
from ui.background_jobs import job_control
from ui.context import current_workspace
from ui.imports.deliveries import Delivery, discard, find_images
from ui.search.index_job import start_indexing

#: The maximum number of refusals that are stored with the job. The file of refusals lists all of them.
MAX_REFUSALS_STORED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """The parameters of an import. ``mapping`` is the text of a mapping file."""

    delivery: Delivery
    file_format: str
    dataset: str
    skip_known: bool
    skip_bad: bool
    minimum_explanation: int | None
    deidentify: bool = False
    mapping: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRefusal:
    """Why a record was refused: the field and the reason."""

    record: str
    field: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutcome:
    """The outcome of an import: the number of problems by check, and the refusals.

    ``refused`` counts all refusals; ``refusals`` contains the first ones.
    """

    problems: dict[str, int]
    refused: int
    refusals: tuple[ShownRefusal, ...]
    refusals_file: str | None


def start_import(request: ImportRequest, person: Person) -> Job:
    """Start an import and return its job."""
    return job_control.start_job(IMPORT, request, by=person)


def load_own_latest_import(person: Person) -> Job | None:
    """Return the job of the person's latest import; None if there is none or it was dismissed."""
    return job_control.load_own_latest_job(IMPORT, by=person)


def decode_request(job: Job) -> ImportRequest:
    """Return the parameters of an import job."""
    return IMPORT.decode(job.parameters)


def decode_outcome(job: Job) -> ImportOutcome | None:
    """Return the outcome of an import job; None if the job has stored none."""
    return from_json(job.result, ImportOutcome) if job.result else None


def _run(job: JobRun[ImportRequest]) -> None:
    request, workspace = job.parameters, current_workspace()

    def report_progress(progress: ImportProgress) -> None:
        counts = (
            f"{count_text(progress.records, 'record')} read · {count_text(progress.images, 'image')} read · "
            f"{progress.refused:,} invalid"
        )
        job.report_progress(round(1000 * progress.fraction), 1000, note=counts)

    images = find_images(request.delivery)
    with job.read_session() as db:
        deidentification = load_deidentification(db, by=job.owner, deidentify=request.deidentify)
    try:
        with job.transaction() as db:
            report = import_questions(
                db,
                by=job.owner,
                deidentification=deidentification,
                path=Path(request.delivery.path),
                file_name=request.delivery.name,
                file_format=request.file_format,
                mapping=load_mapping(request.mapping, "mapping") if request.mapping else None,
                dataset=request.dataset,
                images=images,
                workspace=workspace,
                skip_known=request.skip_known,
                skip_bad=request.skip_bad,
                minimum_explanation=request.minimum_explanation,
                now=job.now(),
                progress=report_progress,
            )
            job.finish(db, _describe_report(report), _summarise_outcome(report))
    except ImportRefused as error:
        failed_report = error.report
        raise JobFailed(
            (
                f"Nothing was imported from {failed_report.file_name}: "
                f"{count_text(failed_report.refused, 'invalid record')}."
            ),
            _summarise_outcome(failed_report),
        ) from error
    discard(request.delivery)
    start_indexing(job.owner)


def _summarise_outcome(report: ImportReport) -> ImportOutcome:
    return ImportOutcome(
        problems={check.value: count for check, count in report.problems.items() if count},
        refused=report.refused,
        refusals=tuple(
            ShownRefusal(record=refusal.record, field=refusal.field, reason=refusal.reason)
            for refusal in report.refusals[:MAX_REFUSALS_STORED]
        ),
        refusals_file=report.refusals_file.name if report.refusals_file else None,
    )


def _describe_report(report: ImportReport) -> str:
    imported_text = (
        f"{count_text(report.questions, 'question')}, {count_text(report.exams, 'new exam')} and "
        f"{count_text(report.images, 'new image')} imported"
    )
    parts = [f"{imported_text} into {report.dataset} from {report.file_name} ({report.file_format})."]
    if report.completed_exams:
        parts.append(report.describe_added_images())
    if report.known:
        parts.append(f"Skipped: {count_text(report.known, 'duplicate')}.")
    if report.filtered:
        parts.append(f"Left out by the mapping: {count_text(report.filtered, 'record')}.")
    if report.refused:
        parts.append(f"Skipped: {count_text(report.refused, 'invalid record')}.")
    return " ".join(parts)


IMPORT = JobKind(
    name="import",
    title="Import",
    action=Action.IMPORT_QUESTIONS,
    parameters=ImportRequest,
    run=_run,
    failure_prefix="Nothing was imported.",
)
