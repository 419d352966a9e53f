"""Lets a person select a question file and its images, by upload or on the server."""

from __future__ import annotations

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from intake.service import describe_stored_attributes, load_deidentification
from intake.service.tables import KINDS
from ui import state
from ui.context import read_only_session
from ui.imports.deliveries import Delivery, discard, list_allowed_folders, locate_server_files, save_upload
from ui.tables import show_table
from ui.widgets import escape_markdown, run_action, show_notice

_SOURCE_LABELS = {"upload": "Upload from this computer", "machine": "Files on the server"}


def show_file_selection(person: Person) -> None:
    """Show the selection of the files and the button that opens the preview."""
    st.markdown(
        "Question file: Overread JSON Lines, ReXVQA, GEMeX, VQA-RAD, COCO, Label Studio, or a table (CSV, "
        "XLSX, Parquet, JSON). Images: DICOM, PNG or JPEG."
    )
    form_key = state.form_key("file-selection")
    source = st.segmented_control(
        "Location of the files",
        list(_SOURCE_LABELS),
        format_func=_SOURCE_LABELS.__getitem__,
        default="upload",
        key=f"{form_key}-place",
    )
    keys = (f"{form_key}-file", f"{form_key}-images")
    left, right = st.columns(2)
    if source == "machine":
        left.text_input(
            "Question file or folder", key=keys[0], placeholder="for example /data/questions.jsonl"
        )
        right.text_input("Image folder (optional)", key=keys[1], placeholder="for example /data/images")
        st.caption(
            escape_markdown(
                f"Allowed folders: {', '.join(str(allowed) for allowed in list_allowed_folders())}."
            )
        )
    else:
        left.file_uploader("Question file", key=keys[0])
        right.file_uploader("Images in one ZIP file (optional)", key=keys[1])
        st.caption(
            "For larger files, folders, or several question files, copy them to an allowed folder of the "
            "server and choose “Files on the server”, or use the command line."
        )
    _show_templates()
    _show_stored_attributes(person)
    st.button(
        "Preview import",
        key=f"{form_key}-look",
        on_click=run_action,
        args=(_create_delivery, person, source == "machine", *keys),
        kwargs={"notice_key": "file-selection"},
        type="primary",
    )
    show_notice("file-selection")


def show_discard_button(delivery: Delivery) -> None:
    """Show the button that discards the selected files, so that others can be selected."""
    st.button(
        "Choose another file",
        key=f"other-{delivery.id}",
        on_click=run_action,
        args=(_discard_delivery, delivery),
        kwargs={"notice_key": "file-selection"},
        width="stretch",
    )


def _show_templates() -> None:
    links = " · ".join(f"[{kind.upper()}](/files/templates/questions.{kind})" for kind in KINDS)
    st.caption(f"Templates for question tables: {links}. Other common column names are also recognised.")


def _show_stored_attributes(person: Person) -> None:
    with read_only_session() as db:
        deidentify = load_deidentification(db, by=person).deidentify
    if deidentify:
        st.info(
            "This workspace de-identifies image files on import. The originals are not kept.",
            icon=":material/shield_person:",
        )
    with st.expander("Stored DICOM header attributes"):
        show_table(
            [
                {"Attribute": name, "Stored as": representation}
                for name, representation in describe_stored_attributes().items()
            ]
        )
        st.caption(
            "No other header attribute is stored in the database. "
            + (
                "The stored files are de-identified by DICOM's Basic Application Level Confidentiality "
                "Profile."
                if deidentify
                else (
                    "The original files are stored unchanged, headers included. You can change this on the "
                    "page Patient data."
                )
            )
        )


def _create_delivery(person: Person, on_server: bool, file_key: str, images_key: str) -> None:
    file, images = state.get_widget_value(file_key), state.get_widget_value(images_key)
    if on_server:
        delivery = locate_server_files(str(file or ""), str(images or ""))
    elif file is None:
        raise Refused("Choose a question file.")
    else:
        with read_only_session() as db:
            in_memory = load_deidentification(db, by=person).deidentify
        delivery = save_upload(file, images, by=person, in_memory=in_memory)  # type: ignore[arg-type]  # both are uploaded files
    state.set_selection("delivery", delivery)


def _discard_delivery(delivery: Delivery) -> None:
    discard(delivery)
    state.set_selection("delivery", None)
