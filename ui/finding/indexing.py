"""The search index is brought up to date behind the page, in parts, so that nobody who is judging waits."""

from __future__ import annotations

from dataclasses import dataclass

from browsing.service import index_questions, search_index
from domain.jobs import Job
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from ui.background_jobs import running

_SUBJECT = "all questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRequest:
    """``message`` is shown at the end, unless it is empty."""

    message: str = ""


def start_indexing(person: Person, *, message: str = "") -> None:
    """Put the questions that came in last into the index, unless that is going on."""
    running.start(INDEX, IndexRequest(message=message), by=person, subject=_SUBJECT)


def latest_indexing(person: Person) -> Job | None:
    return running.latest(INDEX, by=person, subject=_SUBJECT)


def _run(job: JobRun[IndexRequest]) -> None:
    more = True
    while more:
        with job.transaction() as db:
            more = index_questions(db)
            index = search_index(db)
            if not more:
                job.finish(db, job.parameters.message)
        job.report(index.through, index.newest, "questions")


INDEX = JobKind(
    name="search index",
    title="Search index",
    action=Action.BROWSE,
    parameters=IndexRequest,
    run=_run,
)
