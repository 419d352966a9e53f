"""The form that starts a generation: the source, its options, and a pilot or all exams."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.errors import Refused
from domain.language_models import DataUse
from domain.people import Person
from generation.recipes import RECIPES
from generation.service import PILOT_EXAMS
from generation.sources import SOURCES
from generation.templates.selection import MAX_PER_FORMAT, PER_EXAM
from language_models import service as models
from terminology.findings import capitalise
from ui import state
from ui.context import read_only_session
from ui.imports.deliveries import list_allowed_folders, resolve_server_path
from ui.question_generation.generation_job import TEMPLATE, GenerationRequest, start_generation
from ui.widgets import escape_markdown, run_action, show_empty_state, show_notice

#: What each source is, and an example of its path.
_SOURCE_LABELS = {
    "openi-csv": ("Open-i (CSV tables)", "/data/openi"),
    "openi-xml": ("Open-i (XML)", "/data/openi/ecgen-radiology"),
    "mimic-cxr": ("MIMIC-CXR", "/data/mimic-cxr"),
    "scene-graphs": ("Chest ImaGenome (scene graphs)", "/data/scene_graph"),
    "nih": ("NIH ChestX-ray14 (labels)", "/data/Data_Entry_2017_v2020.csv"),
    "chestx-det": ("ChestX-Det (labels)", "/data/ChestX_Det_train.json"),
    "chexlocalize": ("CheXlocalize (polygons)", "/data/gt_annotations_val.json"),
    "mapping": ("Table of reports (mapping file)", "/data/reports.toml"),
}


#: What each recipe does.
_RECIPE_LABELS = {
    TEMPLATE: (
        "Templates",
        "Templates write questions from coded findings and reports, without a language model.",
    ),
    "gemex": (
        "GEMeX",
        "A model splits each report into sentences with regions, then writes 11 questions.",
    ),
    "rexvqa": (
        "ReXVQA",
        "A model summarises each report in bullet points, then writes single-choice questions on five tasks.",
    ),
}


def show_generation_form(person: Person) -> None:
    """Show the recipe, the source, the options, and the buttons for a pilot and for all exams."""
    form_key = state.form_key("generation")
    keys = {
        name: f"{form_key}-{name}"
        for name in (
            "recipe", "source", "path", "images", "seed", "omit_comparison", "skip", "name", "endpoint",
            "prompts", "short", "data_use", "max_cost", *(f"per_exam-{format_}" for format_ in PER_EXAM),
        )
    }  # fmt: skip
    recipe = (
        st.segmented_control(
            "Recipe",
            [TEMPLATE, *RECIPES],
            format_func=lambda name: _RECIPE_LABELS[name][0],
            default=TEMPLATE,
            key=keys["recipe"],
        )
        or TEMPLATE
    )
    st.caption(
        f"{_RECIPE_LABELS[recipe][1]} Generating stores nothing in a dataset: you read the questions first, "
        "then import them."
    )
    _show_source(keys)
    if recipe != TEMPLATE and not _show_model_options(keys, recipe, person):
        return
    if recipe == TEMPLATE:
        st.caption("Seed, and the maximum number of questions per exam by answer format")
        seed_column, *number_columns = st.columns([1.4, 1, 1, 1, 1], vertical_alignment="bottom")
        seed_column.number_input(
            "Seed",
            min_value=0,
            value=1,
            key=keys["seed"],
            help="Determines distractors, selection and order.",
        )
        for column, (format_, count) in zip(number_columns, PER_EXAM.items(), strict=True):
            column.number_input(
                capitalise(format_.label),
                min_value=0,
                max_value=MAX_PER_FORMAT,
                value=count,
                key=keys[f"per_exam-{format_}"],
                help="The maximum number of questions of this format. Exams with few findings get fewer.",
            )
    st.checkbox("Omit the section on comparisons from the stored reports", key=keys["omit_comparison"])
    st.checkbox("Skip invalid records", key=keys["skip"])
    pilot_column, all_column, _ = st.columns([1.5, 1.2, 1.3])
    for column, label, is_pilot in (
        (pilot_column, f"Generate for {PILOT_EXAMS} random exams", True),
        (all_column, "Generate for all exams", False),
    ):
        column.button(
            label,
            key=f"{form_key}-go-{is_pilot}",
            on_click=run_action,
            args=(_start_generation, person, keys, is_pilot),
            kwargs={"notice_key": "generation"},
            type="primary" if is_pilot else "secondary",
            width="stretch",
        )
    show_notice("generation")


def _show_source(keys: dict[str, str]) -> None:
    source_column, path_column, images_column = st.columns([1, 1.5, 1.5])
    source = source_column.selectbox(
        "Source", list(SOURCES), format_func=lambda name: _SOURCE_LABELS[name][0], key=keys["source"]
    )
    path_column.text_input(
        "File or folder on the server",
        key=keys["path"],
        placeholder=f"for example {_SOURCE_LABELS[source][1]}",
    )
    images_column.text_input(
        "Image folder on the server (optional)", key=keys["images"], placeholder="for example /data/images"
    )
    st.caption(
        escape_markdown(f"Allowed folders: {', '.join(str(folder) for folder in list_allowed_folders())}.")
    )


def _show_model_options(keys: dict[str, str], recipe: str, person: Person) -> bool:
    """Show endpoint, prompt versions, licence and budget. Return whether there is an endpoint."""
    with read_only_session() as db:
        endpoints = [endpoint_state.endpoint for endpoint_state in models.list_endpoints(db, by=person)]
        versions = models.list_prompts(db, by=person)
    if not endpoints:
        show_empty_state("No endpoint yet", "Ask an admin to add one on the page Language models.")
        return False
    endpoint_labels = {
        endpoint.name: f"{endpoint.name} ({endpoint.data_use.value})" for endpoint in endpoints
    }
    endpoint_column, name_column, licence_column, cost_column = st.columns([1.2, 1.2, 1, 1])
    endpoint_column.selectbox(
        "Endpoint", list(endpoint_labels), format_func=endpoint_labels.__getitem__, key=keys["endpoint"]
    )
    name_column.text_input(
        "Name of the runs",
        value=recipe,
        key=f"{keys['name']}-{recipe}",
        help="The beginning of the run names. Each stage is one run.",
    )
    licence_column.selectbox(
        "Permitted data use",
        [use.value for use in DataUse],
        key=keys["data_use"],
        help="Where the licence of the reports allows them to be sent.",
    )
    cost_column.number_input(
        "Maximum cost (US$)", min_value=0.0, value=None, key=keys["max_cost"], placeholder="no limit",
        help="The runs pause before they exceed it. The limit applies to pilots and full runs alike.",
    )  # fmt: skip
    stages = {stage.name for stage in RECIPES[recipe].stages}
    st.multiselect(
        "Prompt versions",
        [version.label for version in versions if version.name in stages],
        key=f"{keys['prompts']}-{recipe}",
        placeholder="the shipped prompts",
        help="at most one for each stage; a stage without one uses the shipped prompt",
    )
    st.checkbox(
        "Short replies (for small models)",
        key=keys["short"],
        help="The shipped prompts request fewer questions, shorter texts and shorter lists. For servers that "
        "constrain decoding to a schema, such as llama.cpp.",
    )
    return True


def _start_generation(person: Person, keys: dict[str, str], is_pilot: bool) -> None:
    values = {name: state.get_widget_value(key) for name, key in keys.items()}
    recipe, images = str(values["recipe"] or TEMPLATE), str(values["images"] or "")
    request = GenerationRequest(
        source=str(values["source"]),
        path=resolve_server_path(str(values["path"] or "")),
        images=resolve_server_path(images, kind="folder") if images.strip() else None,
        seed=int(str(values["seed"])) if values["seed"] is not None else 1,
        comparison=not values["omit_comparison"],
        skip_bad=bool(values["skip"]),
        is_pilot=is_pilot,
        per_exam={format_: int(str(values[f"per_exam-{format_}"] or 0)) for format_ in PER_EXAM}
        if recipe == TEMPLATE
        else dict(PER_EXAM),
    )
    if recipe != TEMPLATE:
        prompts = state.get_widget_value(f"{keys['prompts']}-{recipe}")
        labels = tuple(str(label) for label in prompts) if isinstance(prompts, list) else ()
        if len({label.partition("@")[0] for label in labels}) < len(labels):
            raise Refused("Choose at most one version of each prompt.")
        max_cost = values["max_cost"]
        request = replace(
            request,
            recipe=recipe,
            name=str(state.get_widget_value(f"{keys['name']}-{recipe}") or "").strip(),
            endpoint=str(values["endpoint"]),
            prompts=labels,
            short_replies=bool(values["short"]),
            data_use=DataUse(str(values["data_use"])),
            max_cost=float(max_cost) if isinstance(max_cost, int | float) else None,
        )
        if not request.name:
            raise Refused("Enter a name for the runs.")
    start_generation(request, person)
