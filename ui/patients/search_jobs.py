"""The background jobs that search the texts and rank the images of a dataset."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.count_texts import count_text
from domain.jobs import Job
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from privacy.service import describe_ranking, find_hits, rank_images, record_hits, record_ranks
from ui.background_jobs import job_control
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import current_workspace
from ui.widgets import run_action, show_notice


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """The parameters of both jobs: the name of the dataset."""

    dataset: str


def show_search_button(label: str, kind: JobKind[SearchRequest], dataset: str, person: Person) -> Job | None:
    """Show the button that starts a job, or the progress of the active job; below it the latest outcome.

    Returns:
        The latest job of that kind for the dataset; None if there is none.
    """
    job = job_control.load_latest_job(kind, by=person, subject=dataset)
    if not show_job_progress(job):
        notice_key = f"start-{kind.name}"
        st.button(
            label,
            key=f"{notice_key}-{dataset}",
            on_click=run_action,
            args=(_start_search, kind, dataset, person),
            kwargs={"notice_key": notice_key},
        )
        show_notice(notice_key)
    show_job_outcome(job)
    return job


def _start_search(kind: JobKind[SearchRequest], dataset: str, person: Person) -> None:
    job_control.start_job(kind, SearchRequest(dataset=dataset), by=person, subject=dataset)


def _search_texts(job: JobRun[SearchRequest]) -> None:
    with job.read_session() as db:
        hits = find_hits(
            db,
            by=job.owner,
            dataset=job.parameters.dataset,
            workspace=current_workspace(),
            progress=job.report_progress,
        )
    headers_text = (
        f" and for the values of {count_text(hits.headers, 'image header')}" if hits.headers else ""
    )
    with job.transaction() as db:
        record_hits(db, by=job.owner, result=hits, now=job.now())
        job.finish(
            db,
            (
                f"Searched {count_text(hits.questions, 'question')} by pattern{headers_text}: "
                f"{count_text(len(hits.hits), 'passage')}."
            ),
        )


def _rank_images(job: JobRun[SearchRequest]) -> None:
    with job.read_session() as db:
        ranking = rank_images(
            db,
            by=job.owner,
            dataset=job.parameters.dataset,
            workspace=current_workspace(),
            progress=lambda done, total: job.report_progress(done, total, "images"),
        )
    with job.transaction() as db:
        record_ranks(db, by=job.owner, ranking=ranking, now=job.now())
        job.finish(db, describe_ranking(ranking))


SEARCH_TEXTS = JobKind(
    name="search texts",
    title="Search of texts for patient data",
    action=Action.PROTECT_PATIENTS,
    parameters=SearchRequest,
    run=_search_texts,
)
RANK_IMAGES = JobKind(
    name="rank images",
    title="Ranking of images by text",
    action=Action.PROTECT_PATIENTS,
    parameters=SearchRequest,
    run=_rank_images,
)
