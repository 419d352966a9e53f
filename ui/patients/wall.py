"""A wall of nine images, most text first. The person marks those with patient text and confirms the wall."""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from domain.patient_data import PixelDecision, PixelLook
from domain.people import Person
from privacy.service import decide_images, next_looks, pixel_state, removed_images
from ui import state
from ui.context import clock, reading, unit_of_work
from ui.parts import act, notices, plain, stat
from ui.patients.searching import RANK_IMAGES, search_button

_AT_ONCE = 9
_MARKED = "patient-text-marked"
_LAST = "patient-text-last"


def pixels_part(dataset: str, person: Person) -> None:
    """Draw how many images are checked, the ranking, and the wall."""
    with reading() as db:
        found = pixel_state(db, by=person, dataset=dataset)
        shown = next_looks(db, by=person, dataset=dataset, count=_AT_ONCE)
        removed = removed_images(db, by=person, dataset=dataset)
    columns = st.columns(4)
    for column, label, value in zip(
        columns,
        ("Images looked at", "Taken out", "Ranked by text", "Still in the way of a release"),
        (found.decided, found.removed, found.ranked, found.open),
        strict=True,
    ):
        with column:
            stat(label, f"{value:,}", n=found.images)
    search_button("Rank the images by text", RANK_IMAGES, dataset, person)
    if not found.images:
        st.caption("The dataset has no images.")
    elif not shown:
        st.success("A person has looked at every image.")
    else:
        _wall(shown, person)
    notices("wall")
    _undo(person)
    _taken_out(removed, person)


def _wall(shown: list[PixelLook], person: Person) -> None:
    st.markdown(
        "Mark each image that shows a patient's name, number or date: its digit, or a click. "
        "**Enter** confirms the wall: what is marked is taken out, the rest has no patient text. "
        "L and R, PA, AP, erect and the like are no patient text."
    )
    marked = _marked() & {each.sha256 for each in shown}
    for start in range(0, len(shown), 3):
        for place, (column, each) in enumerate(
            zip(st.columns(3), shown[start : start + 3], strict=False), start=start + 1
        ):
            with column:
                _image(place, each, is_marked=each.sha256 in marked)
    decisions = tuple(
        (
            each.sha256,
            PixelDecision.REMOVE if each.sha256 in marked else PixelDecision.NO_PATIENT_TEXT,
        )
        for each in shown
    )
    kept = len(shown) - len(marked)
    st.button(
        f"Confirm: {kept} without patient text" + (f", {len(marked)} taken out" if marked else ""),
        key=f"confirm-{shown[0].sha256}",
        on_click=act,
        args=(_confirm, person, decisions),
        kwargs={"place": "wall"},
        type="primary",
        shortcut="Enter",
    )


def _image(place: int, look: PixelLook, *, is_marked: bool) -> None:
    source = f"/radiographs/{look.exam_number}/{quote(look.radiograph, safe='')}"
    frame = "4px solid #d9480f" if is_marked else "4px solid transparent"
    st.html(
        f'<a href="{source}?longest=3000" target="_blank">'
        f'<img src="{source}?longest=900" alt="image {place}" '
        f'style="width:100%;height:22rem;object-fit:contain;background:#000;border:{frame}"></a>'
    )
    text = "not ranked" if look.score is None else f"words found in it: {look.words}"
    st.button(
        "Patient text: take out" if is_marked else "No patient text",
        key=f"mark-{look.sha256}",
        on_click=_toggle,
        args=(look.sha256,),
        shortcut=str(place),
        width="stretch",
        type="primary" if is_marked else "secondary",
        help=plain(f"Exam {look.exam_number}, {text}. A click on the image opens it whole."),
    )


def _marked() -> set[str]:
    found = state.chosen(_MARKED)
    return set(found) if isinstance(found, frozenset) else set()


def _toggle(sha256: str) -> None:
    state.set_chosen(_MARKED, frozenset(_marked() ^ {sha256}))


def _confirm(person: Person, decisions: tuple[tuple[str, PixelDecision], ...]) -> str:
    with unit_of_work() as db:
        decide_images(db, by=person, decisions=decisions, now=clock())
    state.set_chosen(_MARKED, frozenset())
    state.set_chosen(_LAST, tuple(sha256 for sha256, _ in decisions))
    removed = sum(decision is PixelDecision.REMOVE for _, decision in decisions)
    return f"Kept: {len(decisions) - removed} without patient text, {removed} taken out."


def _undo(person: Person) -> None:
    last = state.chosen(_LAST)
    if isinstance(last, tuple) and last:
        st.button(
            "Take out none of the last wall after all",
            key=f"undo-{last[0]}",
            on_click=act,
            args=(_keep_all, person, last),
            kwargs={"place": "wall"},
        )


def _keep_all(person: Person, images: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        decide_images(
            db,
            by=person,
            decisions=[(sha256, PixelDecision.NO_PATIENT_TEXT) for sha256 in images],
            now=clock(),
        )
    state.set_chosen(_LAST, None)
    return f"Kept: the {len(images)} images of the last wall have no patient text."


def _taken_out(removed: list[PixelLook], person: Person) -> None:
    if not removed:
        return
    with st.expander(f"Images taken out ({len(removed):,})"):
        st.caption("Nobody is shown them any more, and a release leaves their questions out.")
        for each in removed[:50]:
            left, right = st.columns([3, 1])
            left.markdown(plain(f"Exam {each.exam_number}, radiograph {each.radiograph}"))
            right.button(
                "Put back",
                key=f"back-{each.sha256}",
                on_click=act,
                args=(_keep_all, person, (each.sha256,)),
                kwargs={"place": "wall"},
            )
