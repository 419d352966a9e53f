"""One existing release: its files, and its verification."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError
from domain.people import Person
from release import service as release
from ui.context import clock, current_person, read_only_session
from ui.widgets import act, escape_markdown, format_relative_time, show_notice

_FILE_DESCRIPTIONS = {
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


def show_release(person: Person, known_release: release.ReleaseRecord) -> None:
    """Draw a release, with a link to each of its files."""
    with st.container(border=True):
        title_column, verify_column = st.columns([5, 1], vertical_alignment="center")
        by_text = f" by {escape_markdown(known_release.made_by)}" if known_release.made_by else ""
        title_column.markdown(
            f"**{escape_markdown(known_release.dataset)} · {escape_markdown(known_release.name)}** ·"
            f" {known_release.items:,} questions · made"
            f" {format_relative_time(known_release.made_at, now=clock())}{by_text}"
        )
        verify_column.button(
            "Verify",
            key=f"verify-{known_release.id}",
            on_click=act,
            args=(_verify, known_release.id, known_release.name),
            kwargs={"place": f"release-{known_release.id}"},
            width="stretch",
            help="Check every file against the manifest, and the manifest against what was recorded.",
        )
        show_notice(f"release-{known_release.id}")
        try:
            with read_only_session() as db:
                files = release.list_release_files(db, by=person, release_id=known_release.id)
        except DomainError as error:
            st.error(escape_markdown(str(error)))
            return
        files_by_path = {file.entry.path: file for file in files}
        lines = [
            _file_line(known_release.id, files_by_path[path])
            for path in _FILE_DESCRIPTIONS
            if path in files_by_path
        ]
        images = sum(file.entry.path.startswith("images/") for file in files)
        structured = sum(file.entry.path.startswith("sr/") for file in files)
        zip_link = f"[All {len(files):,} files as one ZIP](/files/releases/{known_release.id}.zip)"
        st.markdown(
            "\n".join(
                [
                    *lines,
                    f"- {zip_link}"
                    + "".join(
                        f", with {count:,} {noun}"
                        for count, noun in ((images, "images"), (structured, "structured reports"))
                        if count
                    ),
                ]
            )
        )
        st.caption(f"SHA-256 of the manifest: {known_release.manifest_sha256}")


def _file_line(release_id: int, file: release.ReleaseFile) -> str:
    path = file.entry.path
    return (
        f"- [{path}](/files/releases/{release_id}/{path}) · {_format_size(file.entry.bytes)} ·"
        f" {_FILE_DESCRIPTIONS[path]}"
    )


def _format_size(length: int) -> str:
    for limit, unit in ((1 << 20, "MB"), (1 << 10, "kB")):
        if length >= limit:
            return f"{length / limit:.1f} {unit}"
    return f"{length} bytes"


def _verify(release_id: int, name: str) -> str:
    with read_only_session() as db:
        report = release.verify_recorded_release(db, by=current_person(), release_id=release_id)
    if report.ok:
        return (
            f"{name} is as it was made: {report.files:,} files, {report.questions:,} questions, "
            f"{report.corrections:,} corrections."
        )
    raise DomainError(f"{name} is not as it was made. " + " · ".join(report.faults[:5]))
