"""The search index is updated in the background, in parts, so that no reviewer has to wait."""

from __future__ import annotations

from dataclasses import dataclass

from browsing.service import index_questions, load_search_index_state
from domain.jobs import Job
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from ui.background_jobs import job_control

_SUBJECT = "all questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRequest:
    """A request to update the index; ``message`` is shown at the end, unless it is empty."""

    message: str = ""


def start_indexing(person: Person, *, message: str = "") -> None:
    """Add the newest questions to the index. If that job is active already, do nothing."""
    job_control.start_job(INDEX, IndexRequest(message=message), by=person, subject=_SUBJECT)


def load_latest_index_job(person: Person) -> Job | None:
    return job_control.load_latest_job(INDEX, by=person, subject=_SUBJECT)


def _run(job: JobRun[IndexRequest]) -> None:
    has_more = True
    while has_more:
        with job.transaction() as db:
            has_more = index_questions(db)
            index = load_search_index_state(db)
            if not has_more:
                job.finish(db, job.parameters.message)
        job.report_progress(index.last_indexed, index.newest, "questions")


INDEX = JobKind(
    name="search index",
    title="Search index",
    action=Action.BROWSE,
    parameters=IndexRequest,
    run=_run,
)
