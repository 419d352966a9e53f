"""The form that starts an import: the dataset, the options, and the button."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.errors import Refused
from domain.people import Person
from intake.service import FilePreview, Mapping, load_deidentification
from ui import state
from ui.context import read_only_session
from ui.imports import import_job
from ui.imports.deliveries import Delivery
from ui.imports.file_selection import show_discard_button
from ui.widgets import run_action, show_notice


def show_import_form(
    delivery: Delivery, preview: FilePreview, chosen_format: str | Mapping, person: Person, form_key: str
) -> None:
    """Show the options of an import and the button that starts it.

    Args:
        delivery: the files to import.
        preview: the preview of the question file.
        chosen_format: the name of the file's format, or the mapping of its columns.
        person: the coordinator.
        form_key: the key of the form, which begins the keys of its widgets.
    """
    dataset_column, minimum_column, options_column = st.columns([2, 1, 2])
    dataset = dataset_column.text_input(
        "Dataset",
        value=delivery.name.partition(".")[0],
        key=f"{form_key}-dataset",
        help="a new name, or an existing dataset to add to",
    )
    min_length = minimum_column.number_input(
        "Minimum explanation length",
        min_value=0,
        value=20,
        key=f"{form_key}-minimum",
        help="in characters; used by the checks",
    )
    skip_known = options_column.checkbox(
        "Skip duplicates",
        key=f"{form_key}-known",
        help="With images, exams that were imported without images get them.",
    )
    skip_bad = options_column.checkbox("Skip invalid records", key=f"{form_key}-bad")
    with read_only_session() as db:
        always_deidentify = load_deidentification(db, by=person).deidentify
    deidentify = options_column.checkbox(
        "De-identify images",
        value=always_deidentify,
        disabled=always_deidentify,
        key=f"{form_key}-deidentify-{always_deidentify}",
        help="Patient identifiers are removed, and the originals are not kept.",
    )
    request = import_job.ImportRequest(
        delivery=delivery,
        file_format=chosen_format if isinstance(chosen_format, str) else "auto",
        mapping=None if isinstance(chosen_format, str) else chosen_format.text,
        dataset=dataset,
        skip_known=skip_known,
        skip_bad=skip_bad,
        minimum_explanation=int(min_length),
        deidentify=deidentify,
    )
    import_column, back_column, _ = st.columns([1, 1, 2])
    import_column.button(
        f"Import {count_text(preview.records, 'record')}",
        key=f"{form_key}-go",
        on_click=run_action,
        args=(_start_import, request, person),
        kwargs={"notice_key": "begin"},
        type="primary",
        width="stretch",
    )
    with back_column:
        show_discard_button(delivery)
    show_notice("begin")


def _start_import(request: import_job.ImportRequest, person: Person) -> None:
    if not request.dataset.strip():
        raise Refused("Enter a dataset name.")
    import_job.start_import(request, person)
    state.set_selection("dataset", request.dataset.strip())  # the default of the other pages
    state.set_selection("delivery", None)
