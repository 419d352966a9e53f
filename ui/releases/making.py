"""Making a release: what is chosen, what it would hold, the condition on it, writing it."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from release import service as release
from ui import state
from ui.context import clock, current_person, current_workspace, reading, unit_of_work
from ui.parts import act, notices
from ui.releases.preview import condition, preview

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
_SHOWN = 1_000  # questions between two moves of the bar


def make(person: Person, batches: dict[str, list[str]]) -> None:
    """Draw the form, what a release would hold, and the button that makes it."""
    form = state.form("release")
    left, right = st.columns([2, 3], gap="large")
    with left:
        dataset, chosen, name, choices = _chosen(form, batches)
    with right:
        tally = preview(person, dataset, tuple(chosen))
        met = condition(person, dataset, tuple(chosen), form)
        st.button(
            "Make the release",
            type="primary",
            key=f"{form}-make",
            disabled=tally is None or not tally.released or not name.strip() or not met.holds,
            on_click=act,
            args=(_save, dataset, tuple(chosen), name, tally.judged if tally else 0),
            kwargs={"place": "make", **choices, "under": met.under},
        )
        notices("make")


def _chosen(form: str, batches: dict[str, list[str]]) -> tuple[str, list[str], str, dict]:
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
    called = st.selectbox("Reviewers are named by", list(_NAMES), key=f"{form}-names", format_func=_NAMES.get)
    forms = st.multiselect(
        "Written as, beside JSON Lines and CSV",
        list(_FORMS),
        default=list(_FORMS),
        key=f"{form}-forms",
        format_func=_FORMS.get,
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
    choices = {
        "called": called,
        "images": images,
        "reports": reports,
        "structured": structured,
        "forms": tuple(forms),
        "split": split,
    }
    return dataset, chosen, name, choices


def _save(
    dataset: str,
    chosen: tuple[str, ...],
    name: str,
    judged: int,
    *,
    called: release.Names,
    images: bool,
    reports: bool,
    structured: bool,
    forms: tuple[release.FormName, ...],
    split: release.SplitPlan | None,
    under: float | None,
) -> str:
    person, workspace = current_person(), current_workspace()
    bar = st.progress(0.0, f"Release {name}")

    def progress(count: int) -> None:
        if count % _SHOWN == 0:
            bar.progress(
                min(1.0, count / max(1, judged)), f"Release {name}: {count:,} of {judged:,} questions"
            )

    # Reading first, so that nobody who is judging waits for a large release.
    with reading() as db:
        written = release.write_release(
            db,
            by=person,
            dataset=dataset,
            name=name,
            out=release.usual_folder(workspace, dataset=dataset, name=name),
            batches=chosen or None,
            names=called,
            with_images=images,
            with_reports=reports,
            with_sr=structured,
            forms=forms,
            split=split,
            key_errors_under=under,
            workspace=workspace,
            progress=progress,
        )
    with unit_of_work() as db:
        release.record_release(db, by=person, written=written, now=clock())
    bar.empty()
    state.clear_form("release")
    held = f"Release {written.name} of {dataset} holds {written.tally.released:,} questions"
    if written.keys is not None:
        held += f"; the keys of the private ones are at {written.keys} on the server"
    if written.again:
        held += "; it was there already, the same byte for byte"
    return f"{held}. {written.met}" if written.met else f"{held}."
