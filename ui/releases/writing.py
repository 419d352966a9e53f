"""Releases are written in the background: with images this takes minutes."""

from __future__ import annotations

from dataclasses import dataclass

from domain.errors import Refused
from domain.jobs import Job
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from release import service as release
from ui.background_jobs import running
from ui.context import current_workspace

_SUBJECT = "any"  # one at a time: two with the same name would write the same files


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequest:
    """The parameters of a release.

    ``under`` is the condition: the share of 1 that key errors must stay below. ``judged`` is the number of
    judged questions that the job goes through.
    """

    dataset: str
    batches: tuple[str, ...]
    name: str
    called: release.Names
    images: bool
    reports: bool
    structured: bool
    forms: tuple[release.FormName, ...]
    split: release.SplitPlan | None
    under: float | None = None
    judged: int = 0


def start_release(person: Person, request: ReleaseRequest) -> Job:
    """Start the job that writes a release.

    Raises:
        Refused: another one is being made.
    """
    job = running.start(RELEASE, request, by=person, subject=_SUBJECT)
    if RELEASE.decode(job.parameters) != request:
        raise Refused("Another release is being made. Wait until it is done.")
    return job


def latest_release(person: Person) -> Job | None:
    """Return the latest release job, whoever started it."""
    return running.latest(RELEASE, by=person, subject=_SUBJECT)


def _run(job: JobRun[ReleaseRequest]) -> None:
    asked, workspace = job.parameters, current_workspace()

    def report_progress(count: int) -> None:
        job.report(count, asked.judged, f"questions of release {asked.name}")

    report_progress(0)
    with job.reading() as db:  # a read transaction: reviewers do not wait for a large release
        written = release.write_release(
            db,
            by=job.owner,
            dataset=asked.dataset,
            name=asked.name,
            out=release.usual_folder(workspace, dataset=asked.dataset, name=asked.name),
            batches=asked.batches or None,
            names=asked.called,
            with_images=asked.images,
            with_reports=asked.reports,
            with_sr=asked.structured,
            forms=asked.forms,
            split=asked.split,
            key_errors_under=asked.under,
            workspace=workspace,
            progress=report_progress,
        )
    with job.transaction() as db:
        release.record_release(db, by=job.owner, written=written, now=job.now())
        job.finish(db, _summary(asked, written))


def _summary(asked: ReleaseRequest, written: release.Written) -> str:
    holds = f"Release {written.name} of {asked.dataset} holds {written.tally.released:,} questions"
    if written.keys is not None:
        holds += f"; the keys of the private ones are at {written.keys} on the server"
    if written.again:
        holds += "; it was there already, the same byte for byte"
    return f"{holds}. {written.met}" if written.met else f"{holds}."


RELEASE = JobKind(
    name="release",
    title="Release",
    action=Action.MAKE_RELEASE,
    parameters=ReleaseRequest,
    run=_run,
    failure="The release was not made.",
)
