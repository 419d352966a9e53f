"""Starting an import: the dataset, the rules, and the button."""

from __future__ import annotations

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from intake.service import Look, door_of
from ui import state
from ui.context import reading
from ui.imports import runs
from ui.imports.deliveries import Delivery
from ui.imports.handing_in import another
from ui.parts import act, notices


def begin(delivery: Delivery, look: Look, asked: str, person: Person, form: str) -> None:
    """Draw the options of an import and the button that starts it; ``asked`` is the chosen format."""
    left, middle, right = st.columns([2, 1, 2])
    dataset = left.text_input(
        "Dataset",
        value=delivery.name.partition(".")[0],
        key=f"{form}-dataset",
        help="a new one, or one to add to",
    )
    minimum = middle.number_input(
        "Shortest explanation",
        min_value=0,
        value=20,
        key=f"{form}-minimum",
        help="characters; for the checks",
    )
    skip_known = right.checkbox("Leave out records that are there already", key=f"{form}-known")
    skip_bad = right.checkbox("Leave out records that can't come in", key=f"{form}-bad")
    with reading() as db:
        always = door_of(db, by=person).deidentify
    deidentify = right.checkbox(
        "De-identify the images",
        value=always,
        disabled=always,
        key=f"{form}-deidentify-{always}",
        help="Keep them without their patient, and the originals not at all.",
    )
    request = runs.ImportRequest(
        delivery=delivery,
        file_format=asked,
        dataset=dataset,
        skip_known=skip_known,
        skip_bad=skip_bad,
        minimum_explanation=int(minimum),
        deidentify=deidentify,
    )
    go, back, _ = st.columns([1, 1, 2])
    go.button(
        f"Import {look.records:,} records",
        key=f"{form}-go",
        on_click=act,
        args=(_start, request, person),
        kwargs={"place": "begin"},
        type="primary",
        width="stretch",
    )
    with back:
        another(delivery)
    notices("begin")


def _start(request: runs.ImportRequest, person: Person) -> None:
    if not request.dataset.strip():
        raise Refused("Give the dataset a name first.")
    runs.start(request, person)
    state.set_chosen("delivery", None)
