"""Releases: make one, fetch its files, check it."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError
from domain.people import Action, Person
from release import service as release
from ui import state
from ui.context import clock, current_person, current_workspace, reading, require_page, unit_of_work
from ui.parts import act, empty_state, human_time, notices, plain, screen, table

_NAMES = {
    release.Names.ACCOUNT: "Sign-in names",
    release.Names.DISPLAY: "Names that others read",
    release.Names.PSEUDONYM: "reviewer-1, reviewer-2, …",
}
_WHAT = {
    "gold.jsonl": "the questions with their corrections in them",
    "gold.csv": "the same as a table",
    "corrections.jsonl": "each correction: field, before, after, who, when, why",
    "left_out.jsonl": "what was judged and is not in it, with the reason",
    "images.jsonl": "the radiographs and their SHA-256",
    "manifest.json": "what it is, where it comes from, SHA-256 of each file",
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
        _made(person, each)


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
    with right:
        tally = _preview(person, dataset, chosen)
        st.button(
            "Make the release",
            type="primary",
            key=f"{form}-make",
            disabled=tally is None or not tally.released or not name.strip(),
            on_click=act,
            args=(_save, dataset, tuple(chosen), name),
            kwargs={"place": "make", "called": called, "images": images, "reports": reports},
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
    dataset: str, chosen: tuple[str, ...], name: str, *, called: release.Names, images: bool, reports: bool
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
            workspace=workspace,
        )
    with unit_of_work() as db:
        release.record_release(db, by=person, written=written, now=clock())
    state.clear_form("release")
    held = f"Release {written.name} of {dataset} holds {written.tally.released:,} questions"
    return f"{held}; it was there already, the same byte for byte." if written.again else f"{held}."


# ------------------------------------------------------------------------------------------------------- made
def _made(person: Person, made: release.KnownRelease) -> None:
    with st.container(border=True):
        title, check = st.columns([5, 1], vertical_alignment="center")
        by = f" by {plain(made.made_by)}" if made.made_by else ""
        title.markdown(
            f"**{plain(made.dataset)} · {plain(made.name)}** · {made.items:,} questions · "
            f"made {human_time(made.made_at, now=clock())}{by}"
        )
        check.button(
            "Verify",
            key=f"verify-{made.id}",
            on_click=act,
            args=(_verify, made.id, made.name),
            kwargs={"place": f"release-{made.id}"},
            width="stretch",
            help="Check every file against the manifest, and the manifest against what was recorded.",
        )
        notices(f"release-{made.id}")
        try:
            with reading() as db:
                files = release.release_files(db, by=person, release_id=made.id)
        except DomainError as error:
            st.error(plain(str(error)))
            return
        by_path = {each.entry.path: each for each in files}
        lines = [_line(made.id, by_path[path]) for path in _WHAT if path in by_path]
        images = sum(each.entry.path.startswith("images/") for each in files)
        whole = f"[All {len(files):,} files as one ZIP](/files/releases/{made.id}.zip)"
        st.markdown("\n".join([*lines, f"- {whole}" + (f", with {images:,} images" if images else "")]))
        st.caption(f"SHA-256 of the manifest: {made.manifest_sha256}")


def _line(release_id: int, file: release.ReleaseFile) -> str:
    path = file.entry.path
    return f"- [{path}](/files/releases/{release_id}/{path}) · {_size(file.entry.bytes)} · {_WHAT[path]}"


def _size(length: int) -> str:
    for limit, unit in ((1 << 20, "MB"), (1 << 10, "kB")):
        if length >= limit:
            return f"{length / limit:.1f} {unit}"
    return f"{length} bytes"


def _verify(release_id: int, name: str) -> str:
    with reading() as db:
        report = release.verify_known(db, by=current_person(), release_id=release_id)
    if report.ok:
        return (
            f"{name} is as it was made: {report.files:,} files, {report.questions:,} questions, "
            f"{report.corrections:,} corrections."
        )
    raise DomainError(f"{name} is not as it was made. " + " · ".join(report.faults[:5]))


main()
