"""Shows the preview of an import."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from domain.errors import DomainError, InvalidValue
from domain.exams import Exam
from domain.people import Person
from domain.questions import Question
from intake.service import (
    FORMATS,
    FilePreview,
    Mapping,
    list_builtin_mappings,
    load_builtin_mapping,
    preview_file,
)
from intake.service.tables import list_saved_mappings, load_saved_mapping
from ui.context import current_workspace
from ui.imports.deliveries import Delivery, find_images
from ui.imports.file_selection import show_discard_button
from ui.imports.import_form import show_import_form
from ui.imports.mapping_editor import show_mapping_editor
from ui.questions.card import show_stem_options_key
from ui.refusals import show_refusals
from ui.tables import show_table
from ui.widgets import escape_markdown

#: The format for a table whose columns the person maps.
_TABLE = "table"
_MAPPING_PREFIX = "mapping: "


def show_preview(delivery: Delivery, person: Person) -> None:
    """Show the format, the missing images, the invalid records, the first questions, and the import form."""
    st.subheader(escape_markdown(delivery.name))
    form_key = f"look-{delivery.id}"
    mappings = _list_mappings(person)
    chosen_format = st.selectbox(
        "Format",
        ["auto", *FORMATS, _TABLE, *mappings],
        key=f"{form_key}-format",
        help="auto: detect the format; table: choose the column of each field; "
        "mapping: read the file with that mapping",
    )
    if delivery.path.is_dir() and chosen_format not in mappings:
        st.info("This is a folder. Choose the mapping file that reads it.")
        show_discard_button(delivery)
        return
    try:
        mapping = mappings[chosen_format]() if chosen_format in mappings else None
        if chosen_format == _TABLE or (chosen_format == "auto" and not _is_known_format(delivery, person)):
            mapping = show_mapping_editor(delivery, person, form_key)
            if mapping is None:
                show_discard_button(delivery)
                return
        preview = preview_file(
            by=person,
            path=delivery.path,
            file_format=chosen_format if mapping is None else "auto",
            mapping=mapping,
            images=find_images(delivery),
            file_name=delivery.name,
        )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        show_discard_button(delivery)
        return
    approximately = "" if preview.is_exact else "about "
    st.markdown(
        f"**{escape_markdown(preview.file_format)}** with {approximately}{preview.records:,} records."
    )
    _show_image_check(preview, delivery)
    if preview.refusals:
        st.warning(f"Invalid records: {len(preview.refusals):,} of the first {preview.records_read:,}.")
        show_refusals(preview.refusals, total=len(preview.refusals))
    if preview.filtered:
        st.caption(
            f"Left out by the mapping: {preview.filtered:,} of the first {preview.records_read:,} records."
        )
    if mapping is None or chosen_format in mappings or mapping.content.join:
        for column, (question, exam) in zip(st.columns(3), preview.first_questions, strict=False):
            with column:
                _show_question(question, exam)
    show_import_form(delivery, preview, mapping or chosen_format, person, form_key)


def _list_mappings(person: Person) -> dict[str, Callable[[], Mapping]]:
    """Return the functions that load the mapping files of the workspace and those of Overread, by name."""
    workspace = current_workspace()
    mappings: dict[str, Callable[[], Mapping]] = {
        f"{_MAPPING_PREFIX}{name}": partial(load_saved_mapping, workspace, by=person, name=name)
        for name in list_saved_mappings(workspace, by=person)
    }
    mappings.update(
        {f"{_MAPPING_PREFIX}{name}": partial(load_builtin_mapping, name) for name in list_builtin_mappings()}
    )
    return mappings


def _is_known_format(delivery: Delivery, person: Person) -> bool:
    """Whether the file has a format that needs no mapping."""
    try:
        preview_file(by=person, path=delivery.path, images=None, file_name=delivery.name)
    except InvalidValue:
        return False
    return True


def _show_image_check(preview: FilePreview, delivery: Delivery) -> None:
    if not delivery.has_images:
        st.warning("No images: reviewers would see only the questions.")
    elif preview.missing:
        st.warning(f"Missing images: {len(preview.missing):,} of the first {preview.images:,}.")
        show_table([{"Missing image": name} for name in preview.missing[:10]])
    else:
        st.markdown(
            f"All images of the first {preview.records_read:,} records were found ({preview.images:,})."
        )


def _show_question(question: Question, exam: Exam) -> None:
    with st.container(border=True):
        st.caption(
            escape_markdown(
                f"{question.id} · {question.format.label} · exam {exam.id} · images: {len(exam.radiographs)}"
            )
        )
        show_stem_options_key(question)
        if question.explanation:
            st.caption(escape_markdown(question.explanation))
