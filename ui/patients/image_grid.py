"""The check of images for burned-in text: nine at a time, those with the most text first.

The person marks the images that show patient text and confirms all nine.
"""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from domain.count_texts import count_text
from domain.patient_data import PixelCheck, PixelCheckScope, PixelDecision
from domain.people import Person
from privacy.service import decide_images, load_next_images, load_pixel_state, load_removed_images
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.patients.search_jobs import RANK_IMAGES, show_search_button
from ui.widgets import escape_markdown, run_action, show_notice, show_statistic

_GRID_SIZE = 9
_MARKED_KEY = "patient-text-marked"
_LAST_IMAGES_KEY = "patient-text-last"


def show_pixel_check(dataset: str, person: Person) -> None:
    """Show the counts, the ranking, the next images to check, and the removed images."""
    with read_only_session() as db:
        pixel_counts = load_pixel_state(db, by=person, dataset=dataset)
        image_checks = load_next_images(db, by=person, dataset=dataset, count=_GRID_SIZE)
        removed_images = load_removed_images(db, by=person, dataset=dataset)
    columns = st.columns(4)
    for column, label, value in zip(
        columns,
        ("Images checked", "Removed", "Ranked by text", "To check before a release"),
        (pixel_counts.decided, pixel_counts.removed, pixel_counts.ranked, pixel_counts.undecided),
        strict=True,
    ):
        with column:
            show_statistic(label, f"{value:,}", n=pixel_counts.images)
    if pixel_counts.required is PixelCheckScope.NONE:
        st.caption("No check is required before a release. “Storage of image files” has the rule.")
    show_search_button("Rank images by text", RANK_IMAGES, dataset, person)
    if not pixel_counts.images:
        st.caption("The dataset has no images.")
    elif not image_checks:
        st.success("All images are checked.")
    else:
        _show_grid(image_checks, person)
    _show_undo_button(person)
    show_notice("image-grid")
    _show_removed(removed_images, person)
    show_notice("restore")


def _show_grid(image_checks: list[PixelCheck], person: Person) -> None:
    st.markdown(
        "Mark each image that shows a patient's name, number or date: press its digit or click its "
        "button. **Enter** confirms all images shown: marked images are removed, the others have no "
        "patient text. Markers such as L, R, PA, AP and erect are not patient text."
    )
    marked = _load_marked() & {image_check.sha256 for image_check in image_checks}
    for start in range(0, len(image_checks), 3):
        for number, (column, image_check) in enumerate(
            zip(st.columns(3), image_checks[start : start + 3], strict=False), start=start + 1
        ):
            with column:
                _show_image(number, image_check, is_marked=image_check.sha256 in marked)
    decisions = tuple(
        (
            image_check.sha256,
            PixelDecision.REMOVE if image_check.sha256 in marked else PixelDecision.NO_PATIENT_TEXT,
        )
        for image_check in image_checks
    )
    unmarked_count = len(image_checks) - len(marked)
    st.button(
        f"Confirm: {unmarked_count} without patient text" + (f", {len(marked)} to remove" if marked else ""),
        key=f"confirm-{image_checks[0].sha256}",
        on_click=run_action,
        args=(_confirm_images, person, decisions),
        kwargs={"notice_key": "image-grid"},
        type="primary",
        shortcut="Enter",
    )


def _show_image(number: int, image_check: PixelCheck, *, is_marked: bool) -> None:
    source = f"/radiographs/{image_check.exam_row_id}/{quote(image_check.radiograph, safe='')}"
    frame = "4px solid #d9480f" if is_marked else "4px solid transparent"
    st.html(
        f'<a href="{source}?longest=3000" target="_blank">'
        f'<img src="{source}?longest=900" alt="image {number}" '
        f'style="width:100%;height:22rem;object-fit:contain;background:#000;border:{frame}"></a>'
    )
    text = "not ranked" if image_check.score is None else f"words found: {image_check.words}"
    st.button(
        "Patient text: remove" if is_marked else "No patient text",
        key=f"mark-{image_check.sha256}",
        on_click=_toggle_mark,
        args=(image_check.sha256,),
        shortcut=str(number),
        width="stretch",
        type="primary" if is_marked else "secondary",
        help=escape_markdown(
            f"Exam {image_check.exam_row_id}, {text}. Click the image to open it at full size."
        ),
    )


def _load_marked() -> set[str]:
    stored = state.get_selection(_MARKED_KEY)
    return set(stored) if isinstance(stored, frozenset) else set()


def _toggle_mark(sha256: str) -> None:
    state.set_selection(_MARKED_KEY, frozenset(_load_marked() ^ {sha256}))


def _confirm_images(person: Person, decisions: tuple[tuple[str, PixelDecision], ...]) -> str:
    with unit_of_work() as db:
        decide_images(db, by=person, decisions=decisions, now=clock())
    state.set_selection(_MARKED_KEY, frozenset())
    state.set_selection(_LAST_IMAGES_KEY, tuple(sha256 for sha256, _ in decisions))
    removed_count = sum(decision is PixelDecision.REMOVE for _, decision in decisions)
    return f"Saved: {len(decisions) - removed_count} without patient text, {removed_count} removed."


def _show_undo_button(person: Person) -> None:
    last_images = state.get_selection(_LAST_IMAGES_KEY)
    if isinstance(last_images, tuple) and last_images:
        st.button(
            "Keep all images of the last set",
            key=f"undo-{last_images[0]}",
            on_click=run_action,
            args=(_restore_images, person, last_images),
            kwargs={"notice_key": "image-grid"},
        )


def _restore_images(person: Person, images: tuple[str, ...]) -> str:
    with unit_of_work() as db:
        decide_images(
            db,
            by=person,
            decisions=[(sha256, PixelDecision.NO_PATIENT_TEXT) for sha256 in images],
            now=clock(),
        )
    state.set_selection(_LAST_IMAGES_KEY, None)
    return f"Saved: {count_text(len(images), 'image')} marked as without patient text."


def _show_removed(removed_images: list[PixelCheck], person: Person) -> None:
    if not removed_images:
        return
    with st.expander(f"Removed images ({len(removed_images):,})"):
        st.caption("These images are no longer shown, and releases exclude their questions.")
        for image_check in removed_images[:50]:
            left, right = st.columns([3, 1])
            left.markdown(
                escape_markdown(f"Exam {image_check.exam_row_id}, radiograph {image_check.radiograph}")
            )
            right.button(
                "Restore",
                key=f"back-{image_check.sha256}",
                on_click=run_action,
                args=(_restore_images, person, (image_check.sha256,)),
                kwargs={"notice_key": "restore"},
            )
