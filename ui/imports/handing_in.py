"""Selecting a question file and its images, from the person's computer or from the server."""

from __future__ import annotations

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from intake.service import door_of, kept_of_a_header
from ui import state
from ui.context import reading
from ui.imports.deliveries import Delivery, allowed_folders, discard, on_this_machine, uploaded
from ui.parts import act, notices, plain
from ui.tables import table

_PLACES = {"upload": "On my computer", "machine": "On the machine that Overread runs on"}


def hand_in(person: Person) -> None:
    """Draw the selection of the files; the next step previews them."""
    st.markdown(
        "A question file (native, ReXVQA, GEMeX or VQA-RAD) and the images that it names: DICOM, PNG or JPEG."
    )
    form = state.form("hand-in")
    place = st.segmented_control(
        "Where they are",
        list(_PLACES),
        format_func=_PLACES.__getitem__,
        default="upload",
        key=f"{form}-place",
    )
    keys = (f"{form}-file", f"{form}-images")
    left, right = st.columns(2)
    if place == "machine":
        left.text_input("Question file", key=keys[0], placeholder="/data/questions.jsonl")
        right.text_input("Folder of images", key=keys[1], placeholder="/data/images (empty: questions alone)")
        st.caption(plain(f"Below {', '.join(str(each) for each in allowed_folders())}."))
    else:
        left.file_uploader("Question file, up to 200 MB", key=keys[0])
        right.file_uploader("Images as one zip, up to 200 MB (none: questions alone)", key=keys[1])
        st.caption("Larger ones: put them on the machine, or use the command line.")
    _what_is_kept(person)
    st.button(
        "Look at it",
        key=f"{form}-look",
        on_click=act,
        args=(_take, person, place == "machine", *keys),
        kwargs={"place": "hand-in"},
        type="primary",
    )
    notices("hand-in")


def another(delivery: Delivery) -> None:
    """Draw the button that discards the selected files, to choose others."""
    st.button(
        "Choose another file",
        key=f"other-{delivery.id}",
        on_click=act,
        args=(_drop, delivery),
        kwargs={"place": "hand-in"},
        width="stretch",
    )


def _what_is_kept(person: Person) -> None:
    with reading() as db:
        deidentify = door_of(db, by=person).deidentify
    if deidentify:
        st.info(
            "This workspace de-identifies image files at the door: the originals are not kept, nowhere.",
            icon=":material/shield_person:",
        )
    with st.expander("What is kept of a DICOM header"):
        table([{"Attribute": name, "Kept as": what} for name, what in kept_of_a_header().items()])
        st.caption(
            "Nothing else of a header enters the database. "
            + (
                "The files that are kept have gone through DICOM's Basic Confidentiality Profile."
                if deidentify
                else "The original files are kept whole, with all that they say; the page Patient data "
                "changes that."
            )
        )


def _take(person: Person, on_machine: bool, file_key: str, images_key: str) -> None:
    file, images = state.field(file_key), state.field(images_key)
    if on_machine:
        delivery = on_this_machine(str(file or ""), str(images or ""))
    elif file is None:
        raise Refused("Choose a question file first.")
    else:
        with reading() as db:
            in_memory = door_of(db, by=person).deidentify
        delivery = uploaded(file, images, by=person, in_memory=in_memory)  # type: ignore[arg-type]  # what an uploader holds
    state.set_chosen("delivery", delivery)


def _drop(delivery: Delivery) -> None:
    discard(delivery)
    state.set_chosen("delivery", None)
