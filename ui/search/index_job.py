"""The background job that updates the search index, in small transactions that do not block reviewers."""

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
    """The parameters of the job. ``message`` is shown when the job is done, unless it is empty."""

    message: str = ""


def start_indexing(person: Person, *, message: str = "") -> None:
    """Start adding the newest questions to the index. If that job is already active, do nothing."""
    job_control.start_job(INDEX, IndexRequest(message=message), by=person, subject=_SUBJECT)


def load_latest_index_job(person: Person) -> Job | None:
    """Return the latest index job of any person; None if there is none or it was dismissed."""
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
