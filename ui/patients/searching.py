"""Searching the texts and ranking the images of a dataset, in the background."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from domain.jobs import Job
from domain.people import Action, Person
from jobs.service import JobKind, JobRun
from privacy.service import find_hits, rank_images, ranking_told, record_hits, record_ranks
from ui.background_jobs import running
from ui.background_jobs.shown import show_outcome, show_progress
from ui.context import current_workspace
from ui.parts import act, notices


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """The parameters of a search: the dataset."""

    dataset: str


def search_button(label: str, kind: JobKind[SearchRequest], dataset: str, person: Person) -> Job | None:
    """Draw the button, or the progress while the search runs; below it the outcome of the latest search.

    Returns:
        The latest search of the dataset, if there is one.
    """
    job = running.latest(kind, by=person, subject=dataset)
    if not show_progress(job):
        place = f"start-{kind.name}"
        st.button(
            label,
            key=f"{place}-{dataset}",
            on_click=act,
            args=(_start, kind, dataset, person),
            kwargs={"place": place},
        )
        notices(place)
    show_outcome(job)
    return job


def _start(kind: JobKind[SearchRequest], dataset: str, person: Person) -> None:
    running.start(kind, SearchRequest(dataset=dataset), by=person, subject=dataset)


def _search_texts(job: JobRun[SearchRequest]) -> None:
    with job.reading() as db:
        found = find_hits(
            db,
            by=job.owner,
            dataset=job.parameters.dataset,
            workspace=current_workspace(),
            progress=job.report,
        )
    headers = f" and for what {found.headers:,} image headers say" if found.headers else ""
    with job.transaction() as db:
        record_hits(db, by=job.owner, found=found, now=job.now())
        job.finish(
            db, f"Searched {found.questions:,} questions by pattern{headers}: {len(found.hits):,} passages."
        )


def _rank_images(job: JobRun[SearchRequest]) -> None:
    with job.reading() as db:
        ranked = rank_images(
            db,
            by=job.owner,
            dataset=job.parameters.dataset,
            workspace=current_workspace(),
            progress=lambda done, total: job.report(done, total, "images"),
        )
    with job.transaction() as db:
        record_ranks(db, by=job.owner, ranked=ranked, now=job.now())
        job.finish(db, ranking_told(ranked))


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
