"""The form that starts a generation: the source, its options, and a pilot or all exams."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from generation.service import PILOT_EXAMS
from generation.sources import SOURCES
from ui import state
from ui.imports.deliveries import list_allowed_folders, resolve_server_path
from ui.question_generation.generation_job import GenerationRequest, start_generation
from ui.widgets import escape_markdown, run_action, show_notice

#: What each source is, and an example of its path.
_SOURCE_LABELS = {
    "openi-csv": ("Open-i, tables", "/data/openi"),
    "openi-xml": ("Open-i, XML", "/data/openi/ecgen-radiology"),
    "mimic-cxr": ("MIMIC-CXR", "/data/mimic-cxr"),
    "scene-graphs": ("Chest ImaGenome, scene graphs", "/data/scene_graph"),
    "nih": ("NIH ChestX-ray14, labels", "/data/Data_Entry_2017_v2020.csv"),
    "chestx-det": ("ChestX-Det, labels", "/data/ChestX_Det_train.json"),
    "chexlocalize": ("CheXlocalize, polygons", "/data/gt_annotations_val.json"),
}


def show_generation_form(person: Person) -> None:
    """Draw the source, the options, and the buttons for a pilot and for all exams."""
    st.markdown(
        "Questions are written from coded findings and reports by templates, without a language model. A "
        "question that the record does not allow is not built."
    )
    form_key = state.form_key("generation")
    keys = {name: f"{form_key}-{name}" for name in ("source", "path", "images", "seed", "comparison", "skip")}
    source_column, path_column, images_column = st.columns([1, 1.5, 1.5])
    source = source_column.selectbox(
        "Source", list(SOURCES), format_func=lambda name: _SOURCE_LABELS[name][0], key=keys["source"]
    )
    path_column.text_input(
        "File or folder on the server", key=keys["path"], placeholder=_SOURCE_LABELS[source][1]
    )
    images_column.text_input(
        "Image folder on the server", key=keys["images"], placeholder="/data/images (optional)"
    )
    st.caption(
        escape_markdown(f"Allowed folders: {', '.join(str(folder) for folder in list_allowed_folders())}.")
    )
    seed_column, options_column = st.columns([1, 3])
    seed_column.number_input(
        "Seed", min_value=0, value=1, key=keys["seed"], help="determines distractors, selection and order"
    )
    options_column.checkbox("Leave comparisons with prior exams out of the reports", key=keys["comparison"])
    options_column.checkbox("Skip invalid records", key=keys["skip"])
    pilot_column, all_column, _ = st.columns([1, 1, 2])
    for column, label, is_pilot in (
        (pilot_column, f"Generate a pilot of {PILOT_EXAMS} exams", True),
        (all_column, "Generate all exams", False),
    ):
        column.button(
            label,
            key=f"{form_key}-go-{is_pilot}",
            on_click=run_action,
            args=(_start, person, keys, is_pilot),
            kwargs={"notice_key": "generation"},
            type="primary" if is_pilot else "secondary",
            width="stretch",
        )
    show_notice("generation")


def _start(person: Person, keys: dict[str, str], is_pilot: bool) -> None:
    values = {name: state.get_widget_value(key) for name, key in keys.items()}
    images = str(values["images"] or "")
    start_generation(
        GenerationRequest(
            source=str(values["source"]),
            path=resolve_server_path(str(values["path"] or "")),
            images=resolve_server_path(images, kind="folder") if images.strip() else None,
            seed=int(str(values["seed"])),
            comparison=not values["comparison"],
            skip_bad=bool(values["skip"]),
            is_pilot=is_pilot,
        ),
        person,
    )
