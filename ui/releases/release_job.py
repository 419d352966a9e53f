"""The background job that writes a release. With images it takes minutes."""

from __future__ import annotations

from dataclasses import dataclass

from domain.count_texts import count_text
from domain.errors import Refused
from domain.jobs import Job
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from release import service as release
from ui.background_jobs import job_control
from ui.background_jobs.checkpoint_job import take_checkpoint_after_job
from ui.context import current_workspace

#: The subject of every release job. They share it, so that only one job runs at a time: two releases of the
#: same name would write the same files.
_SUBJECT = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """The parameters of a release.

    ``called`` is how reviewers are named, and ``forms`` are the additional formats. ``under`` is the limit of
    the condition on key errors, a share from 0 to 1. ``judged`` is the number of judged questions, from which
    the progress is computed.
    """

    dataset: str
    batches: tuple[str, ...]
    name: str
    called: release.ReviewerNaming
    images: bool
    reports: bool
    structured: bool
    forms: tuple[release.FormatName, ...]
    split: release.SplitPlan | None
    under: float | None = None
    judged: int = 0


def start_release(person: Person, request: ReleaseRequest) -> Job:
    """Start the job that writes a release.

    Raises:
        Refused: another release is being created.
    """
    job = job_control.start_job(RELEASE, request, by=person, subject=_SUBJECT)
    if RELEASE.decode(job.parameters) != request:
        raise Refused("Another release is being created. Wait until it finishes.")
    return job


def load_latest_release_job(person: Person) -> Job | None:
    """Return the latest release job, of any person."""
    return job_control.load_latest_job(RELEASE, by=person, subject=_SUBJECT)


def _run(job: JobRun[ReleaseRequest]) -> None:
    request, workspace = job.parameters, current_workspace()

    def report_progress(count: int) -> None:
        job.report_progress(count, request.judged, f"questions of release {request.name}")

    report_progress(0)
    with job.read_session() as db:  # a read transaction does not block the reviewers during a large release
        written_release = release.write_release(
            db,
            by=job.owner,
            dataset=request.dataset,
            name=request.name,
            out=release.default_release_folder(workspace, dataset=request.dataset, name=request.name),
            batches=request.batches or None,
            reviewer_naming=request.called,
            with_images=request.images,
            with_reports=request.reports,
            with_sr=request.structured,
            formats=request.forms,
            split=request.split,
            key_errors_under=request.under,
            with_audit_head=True,
            workspace=workspace,
            progress=report_progress,
        )
    with job.transaction() as db:
        release.record_release(db, by=job.owner, release=written_release, now=job.now())
        job.finish(db, _describe_release(request, written_release))
    take_checkpoint_after_job(job, after=f"release {request.name}")


def _describe_release(request: ReleaseRequest, written_release: release.WrittenRelease) -> str:
    text = (
        f"Release {written_release.name} of {request.dataset} contains "
        f"{count_text(written_release.tally.released, 'question')}"
    )
    if written_release.keys_folder is not None:
        text += f"; the keys of the private questions are in {written_release.keys_folder} on the server"
    if written_release.already_existed:
        text += "; an identical release already existed"
    return f"{text}. {written_release.condition_note}" if written_release.condition_note else f"{text}."


RELEASE = JobKind(
    name="release",
    title="Release",
    action=Action.MAKE_RELEASE,
    parameters=ReleaseRequest,
    run=_run,
    failure_prefix="The release was not created.",
)
