"""Creating a release: its options, a preview of its content, its condition, and its start."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.jobs import Job, JobStatus
from domain.people import Person
from release import service as release
from ui import state
from ui.background_jobs.shown import show_outcome, show_progress
from ui.context import current_person
from ui.layout import beside
from ui.parts import act, notices
from ui.releases.preview import condition, show_tally, tally_now
from ui.releases.writing import ReleaseRequest, latest_release, start_release

_NAMES = {
    release.Names.ACCOUNT: "Sign-in names",
    release.Names.DISPLAY: "Names that others read",
    release.Names.PSEUDONYM: "reviewer-1, reviewer-2, …",
}
_FORMS = {
    release.FormName.REXVQA: "ReXVQA",
    release.FormName.GEMEX: "GEMeX",
    release.FormName.COCO: "COCO boxes",
    release.FormName.PARQUET: "Parquet",
}
_STARTED = "release-started"


def make(person: Person, batches: dict[str, list[str]]) -> None:
    """Draw the form, the preview of the release, and the button that creates it."""
    job = latest_release(person)
    _clear_when_made(job)
    form = state.form("release")
    left, right = beside(2, 3, name="release")
    with left:
        request = _chosen(form, batches)
    with right:
        tally = tally_now(person, request.dataset, request.batches)
        met = condition(person, request.dataset, request.batches, form)
        # Above the tables: they get their height late, and would move the button away from under a click.
        if not show_progress(job):
            st.button(
                "Make the release",
                type="primary",
                key=f"{form}-make",
                disabled=tally is None or not tally.released or not request.name.strip() or not met.holds,
                on_click=act,
                args=(_start, replace(request, under=met.under, judged=tally.judged if tally else 0)),
                kwargs={"place": "make"},
            )
        show_outcome(job)
        notices("make")
        if tally is not None:
            show_tally(tally)


def _chosen(form: str, batches: dict[str, list[str]]) -> ReleaseRequest:
    names = list(batches)
    before = state.chosen("dataset")
    dataset = st.selectbox(
        "Dataset", names, index=names.index(before) if before in names else 0, key=f"{form}-dataset"
    )
    state.set_chosen("dataset", dataset)
    chosen = st.multiselect(
        "Batches",
        batches[dataset],
        key=f"{form}-batches-{dataset}",
        placeholder="All of the dataset",
        help="Whose verdicts count. Of each reviewer the latest verdict on a question counts.",
    )
    name = st.text_input("Name of the release", key=f"{form}-name", placeholder="v1")
    called = st.selectbox(
        "Reviewers are named by", list(_NAMES), key=f"{form}-names", format_func=_NAMES.__getitem__
    )
    forms = st.multiselect(
        "Written as, beside JSON Lines and CSV",
        list(_FORMS),
        default=list(_FORMS),
        key=f"{form}-forms",
        format_func=_FORMS.__getitem__,
        placeholder="Nothing else",
    )
    images = st.checkbox("With the original images", key=f"{form}-images")
    reports = st.checkbox("With the reports", key=f"{form}-reports", help="A report gives the answer away.")
    structured = st.checkbox(
        "With DICOM structured reports",
        key=f"{form}-sr",
        help="The boxes as TID 1500 reports, one for each radiograph that came as DICOM.",
    )
    private = st.number_input(
        "Private share, %",
        min_value=0,
        max_value=90,
        value=0,
        step=5,
        key=f"{form}-private",
        help="The keys of about so many exams are held back, for scoring models. No patient and no image "
        "is on both sides. Every image is decoded for it, which takes a while.",
    )
    seed = st.number_input(
        "Seed of the split", value=0, step=1, key=f"{form}-split-seed", disabled=not private
    )
    split = release.SplitPlan(private_share=private / 100, seed=int(seed)) if private else None
    return ReleaseRequest(
        dataset=dataset,
        batches=tuple(chosen),
        name=name,
        called=called,
        images=images,
        reports=reports,
        structured=structured,
        forms=tuple(forms),
        split=split,
    )


def _start(request: ReleaseRequest) -> None:
    state.set_chosen(_STARTED, start_release(current_person(), request).number)


def _clear_when_made(job: Job | None) -> None:
    """Reset the form when its release is complete.

    If the release is refused, the form stays, to be corrected.
    """
    if job is not None and job.number == state.chosen(_STARTED) and job.status is JobStatus.DONE:
        state.clear_form("release")
        state.set_chosen(_STARTED, None)
