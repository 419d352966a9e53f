"""One existing release: its files, and its verification."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError
from domain.people import Person
from release import service as release
from ui.context import clock, current_person, reading
from ui.parts import act, human_time, notices, plain

_WHAT = {
    "datacard.md": "what it holds and what it stands on, to read",
    "gold.jsonl": "the questions with their corrections in them",
    "gold.csv": "the same as a table",
    "gold.parquet": "the same for the datasets library, with pictures where images were asked for",
    "rexvqa.json": "the single-choice questions as ReXVQA has them",
    "gemex/closed_ended_questions.jsonl": "as GEMeX's test files have them: yes or no",
    "gemex/single_choice_questions.jsonl": "one option",
    "gemex/multi_choice_questions.jsonl": "several options",
    "gemex/open_ended_questions.jsonl": "free text",
    "gemex/conversations.json": "as GEMeX's training files have them",
    "gemex/conversations_paper.json": "the same, spelled as in its paper",
    "boxes.coco.json": "the boxes for COCO's tools",
    "private/questions.jsonl": "the private questions, without what tells their answers",
    "corrections.jsonl": "each correction: field, before, after, who, when, why",
    "left_out.jsonl": "what was judged and is not in it, with the reason",
    "images.jsonl": "the radiographs and their SHA-256",
    "croissant.json": "the release described for dataset search engines",
    "manifest.json": "what it is, where it comes from, SHA-256 of each file",
}


def show_made(person: Person, made: release.KnownRelease) -> None:
    """Draw a release, with a link to each of its files."""
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
        structured = sum(each.entry.path.startswith("sr/") for each in files)
        whole = f"[All {len(files):,} files as one ZIP](/files/releases/{made.id}.zip)"
        st.markdown(
            "\n".join(
                [
                    *lines,
                    f"- {whole}"
                    + "".join(
                        f", with {count:,} {what}"
                        for count, what in ((images, "images"), (structured, "structured reports"))
                        if count
                    ),
                ]
            )
        )
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
