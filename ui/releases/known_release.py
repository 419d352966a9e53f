"""Shows an existing release: its files and its verification."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError
from domain.people import Person
from release import service as release
from ui.context import clock, current_person, read_only_session
from ui.releases.training_data import show_training_data
from ui.widgets import escape_markdown, format_relative_time, run_action, show_notice

_FILE_DESCRIPTIONS = {
    "datacard.md": "data card: content, methods and limitations",
    "gold.jsonl": "questions with corrections applied",
    "gold.csv": "questions as a table",
    "gold.parquet": "questions for the datasets library, with images if requested",
    "rexvqa.json": "single-choice questions in ReXVQA format",
    "gemex/closed_ended_questions.jsonl": "closed questions in the format of GEMeX's test files",
    "gemex/single_choice_questions.jsonl": "single-choice questions",
    "gemex/multi_choice_questions.jsonl": "multiple-choice questions",
    "gemex/open_ended_questions.jsonl": "open questions",
    "gemex/conversations.json": "questions in the format of GEMeX's training files",
    "gemex/conversations_paper.json": "questions in the format of the GEMeX paper",
    "boxes.coco.json": "bounding boxes in COCO format",
    "private/questions.jsonl": "private questions without answers",
    "corrections.jsonl": "corrections: field, before, after, person, time and reason",
    "errata.jsonl": "problems reported in earlier releases, with the decisions and the changes",
    "left_out.jsonl": "judged questions that are excluded, with the reason",
    "images.jsonl": "radiographs with their SHA-256",
    "croissant.json": "metadata for dataset search engines",
    "manifest.json": "source, settings and SHA-256 of all files",
}


def show_release(person: Person, known_release: release.ReleaseRecord) -> None:
    """Show a release with its date, the button that verifies it, and a link to each of its files."""
    with st.container(border=True):
        title_column, verify_column = st.columns([5, 1], vertical_alignment="center")
        by_text = f" by {escape_markdown(known_release.made_by)}" if known_release.made_by else ""
        title_column.markdown(
            f"**{escape_markdown(known_release.dataset)} · {escape_markdown(known_release.name)}** · "
            f"{count_text(known_release.items, 'question')} · created "
            f"{format_relative_time(known_release.made_at, now=clock())}{by_text}"
        )
        verify_column.button(
            "Verify",
            key=f"verify-{known_release.id}",
            on_click=run_action,
            args=(_verify_release, known_release.id, known_release.name),
            kwargs={"notice_key": f"release-{known_release.id}"},
            width="stretch",
            help="Compare the files with the manifest, and the manifest with the database.",
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
            _format_file_link(known_release.id, files_by_path[path])
            for path in _FILE_DESCRIPTIONS
            if path in files_by_path
        ]
        image_count = sum(file.entry.path.startswith("images/") for file in files)
        sr_count = sum(file.entry.path.startswith("sr/") for file in files)
        zip_link = f"[All {count_text(len(files), 'file')} (ZIP)](/files/releases/{known_release.id}.zip)"
        st.markdown(
            "\n".join(
                [
                    *lines,
                    f"- {zip_link}"
                    + "".join(
                        f", with {count_text(count, noun)}"
                        for count, noun in ((image_count, "image"), (sr_count, "structured report"))
                        if count
                    ),
                ]
            )
        )
        st.caption(f"SHA-256 of the manifest: {known_release.manifest_sha256}")
        if image_count:
            show_training_data(person, known_release)
        else:
            st.caption("Training data need a release with images.")


def _format_file_link(release_id: int, file: release.ReleaseFile) -> str:
    path = file.entry.path
    return (
        f"- [{path}](/files/releases/{release_id}/{path}) · {_format_size(file.entry.bytes)} ·"
        f" {_FILE_DESCRIPTIONS[path]}"
    )


def _format_size(byte_count: int) -> str:
    for limit, unit in ((1 << 20, "MB"), (1 << 10, "kB")):
        if byte_count >= limit:
            return f"{byte_count / limit:.1f} {unit}"
    return f"{byte_count} bytes"


def _verify_release(release_id: int, name: str) -> str:
    with read_only_session() as db:
        report = release.verify_recorded_release(db, by=current_person(), release_id=release_id)
    if report.ok:
        return (
            f"{name} is unchanged: {count_text(report.files, 'file')}, "
            f"{count_text(report.questions, 'question')}, {count_text(report.corrections, 'correction')}."
        )
    raise DomainError(f"{name} was changed after its creation. " + " · ".join(report.faults[:5]))
