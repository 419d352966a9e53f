"""Releases: make one, fetch its files, check it."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError
from domain.people import Action, Person
from release import service as release
from ui import state
from ui.context import clock, current_person, current_workspace, reading, require_page, unit_of_work
from ui.parts import act, empty_state, notices, plain, screen, table
from ui.releases.made import show_made

_NAMES = {
    release.Names.ACCOUNT: "Sign-in names",
    release.Names.DISPLAY: "Names that others read",
    release.Names.PSEUDONYM: "reviewer-1, reviewer-2, …",
}


@screen
def main() -> None:
    """All in one fragment, so that no click can overtake a release."""
    person = require_page(Action.MAKE_RELEASE)
    st.title("Releases")
    with reading() as db:
        batches = release.releasable(db, by=person)
        made = release.list_releases(db, by=person)
    if not batches:
        empty_state(
            "Nothing to release yet",
            "A release holds the questions of batches that reviewers accepted or corrected.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    _make(person, batches)
    st.subheader("Made")
    notices("made")
    if not made:
        st.caption("No release yet.")
    for each in made:
        show_made(person, each)


# ----------------------------------------------------------------------------------------------------- making
def _make(person: Person, batches: dict[str, list[str]]) -> None:
    form = state.form("release")
    left, right = st.columns([2, 3], gap="large")
    with left:
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
            "Reviewers are named by", list(_NAMES), key=f"{form}-names", format_func=_NAMES.get
        )
        images = st.checkbox("With the original images", key=f"{form}-images")
        reports = st.checkbox(
            "With the reports", key=f"{form}-reports", help="A report gives the answer away."
        )
        reports_sr = st.checkbox(
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
    with right:
        tally = _preview(person, dataset, chosen)
        st.button(
            "Make the release",
            type="primary",
            key=f"{form}-make",
            disabled=tally is None or not tally.released or not name.strip(),
            on_click=act,
            args=(_save, dataset, tuple(chosen), name),
            kwargs={
                "place": "make",
                "called": called,
                "images": images,
                "reports": reports,
                "structured": reports_sr,
                "split": release.SplitPlan(private_share=private / 100, seed=int(seed)) if private else None,
            },
        )
        notices("make")


def _preview(person: Person, dataset: str, chosen: list[str]) -> release.Tally | None:
    try:
        with reading() as db:
            tally = release.preview_release(db, by=person, dataset=dataset, batches=chosen or None)
    except DomainError as error:
        st.error(plain(str(error)))
        return None
    st.markdown(f"**{_sentence(tally)}**")
    table(
        [
            {"Questions": "accepted as they are", "Number": tally.accepted, "": "released"},
            {"Questions": "corrected", "Number": tally.revised, "": "released"},
            *(
                {"Questions": reason, "Number": count, "": "left out"}
                for reason, count in tally.left_out.items()
            ),
            {"Questions": "not judged yet", "Number": tally.unjudged, "": "left out"},
        ]
    )
    table(
        [
            {
                "Stratum": stratum,
                "Drawn": counts["drawn"],
                "Judged": counts["judged"],
                "Released": counts["released"],
            }
            for stratum, counts in tally.strata.items()
        ]
    )
    return tally


def _sentence(tally: release.Tally) -> str:
    if not tally.judged:
        return "Nobody has judged a question of these batches yet."
    return f"A release made now would hold {tally.released:,} of the {tally.judged:,} judged questions."


def _save(
    dataset: str,
    chosen: tuple[str, ...],
    name: str,
    *,
    called: release.Names,
    images: bool,
    reports: bool,
    structured: bool,
    split: release.SplitPlan | None,
) -> str:
    person, workspace = current_person(), current_workspace()
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
            split=split,
            workspace=workspace,
        )
    with unit_of_work() as db:
        release.record_release(db, by=person, written=written, now=clock())
    state.clear_form("release")
    held = f"Release {written.name} of {dataset} holds {written.tally.released:,} questions"
    if written.keys is not None:
        held += f"; the keys of the private ones are at {written.keys} on the server"
    return f"{held}; it was there already, the same byte for byte." if written.again else f"{held}."


main()
