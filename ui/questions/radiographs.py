"""Shows the radiographs of an exam with boxes of the key or of raters; a click opens one at full size."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from urllib.parse import quote

import streamlit as st

from domain.boxes import Box, LabelledBox
from domain.exams import Exam, Radiograph
from ui.widgets import escape_markdown

#: The colour of the key's boxes, and the colours of the raters' boxes in the order of the raters.
_KEY_COLOUR = "#ffd54a"
_RATER_COLOURS = ("#4fc3f7", "#ff8a65", "#81c784", "#ba68c8", "#f06292", "#aed581", "#4db6ac", "#9575cd")


def show_radiographs(
    exam_row_id: int, exam: Exam, *, boxes: Sequence[LabelledBox] = (), max_height: str = "26rem"
) -> None:
    """Show the radiographs that have an image. The route checks whether the person may see them.

    Args:
        exam_row_id: the exam's id in the database.
        exam: the exam.
        boxes: the boxes to draw, in pixels of the stored matrix.
        max_height: the greatest height of an image, as a length of CSS.
    """
    pictures = []
    for radiograph in exam.radiographs:
        if radiograph.rows is None or radiograph.columns is None:
            continue
        address = f"/radiographs/{exam_row_id}/{quote(radiograph.id, safe='')}"
        width = f"calc({max_height} * {radiograph.columns / radiograph.rows:.4f})"
        overlay = "".join(
            _build_box_html(box.box, radiograph) for box in boxes if box.radiograph == radiograph.id
        )
        pictures.append(
            f'<a href="{address}?longest=3000" target="_blank" '
            f'style="position:relative;flex:1 1 12rem;max-width:{width}">'
            f'<img src="{address}?longest=1200" alt="radiograph {quote(radiograph.id)}" '
            f'style="display:block;width:100%;background:#000">{overlay}</a>'
        )
    if pictures:
        st.html(
            '<div style="display:flex;flex-wrap:wrap;gap:0.5rem;align-items:flex-start">'
            f"{''.join(pictures)}</div>"
        )


def _build_box_html(box: Box, radiograph: Radiograph) -> str:
    """Return a box as an element over its image, in per cent of the image's size."""
    rows, columns = radiograph.rows or 1, radiograph.columns or 1
    return (
        f'<span style="position:absolute;left:{100 * box.x_min / columns:.2f}%;'
        f"top:{100 * box.y_min / rows:.2f}%;width:{100 * box.width / columns:.2f}%;"
        f'height:{100 * box.height / rows:.2f}%;box-sizing:border-box;border:2px solid #ffd166"></span>'
    )


def show_boxes_of_raters(
    exam_row_id: int,
    radiographs: Sequence[Radiograph],
    *,
    key: Sequence[LabelledBox],
    boxes: Mapping[str, Sequence[LabelledBox]],
    shown: Collection[str],
) -> None:
    """Show the radiographs one below the other, with the boxes of the key, in yellow, and of some raters.

    Args:
        exam_row_id: the exam's id in the database.
        radiographs: the radiographs of the exam.
        key: the boxes of the key, in pixels of the stored matrix.
        boxes: the boxes of each rater; a rater's colour depends on the position in this mapping.
        shown: the raters whose boxes are drawn.
    """
    layers = [("", _KEY_COLOUR, key)] + [
        (rater, _RATER_COLOURS[position % len(_RATER_COLOURS)], layer_boxes)
        for position, (rater, layer_boxes) in enumerate(boxes.items())
        if rater in shown
    ]
    for radiograph in radiographs:
        if radiograph.sha256 is None or not radiograph.rows or not radiograph.columns:
            st.caption(escape_markdown(f"{radiograph.view.value}: the image is not in the workspace."))
            continue
        address = f"/radiographs/{exam_row_id}/{quote(radiograph.id, safe='')}"
        shapes = [
            _build_named_box_html(box.box, radiograph, name=name, colour=colour)
            for name, colour, layer_boxes in layers
            for box in layer_boxes
            if box.radiograph in (None, "", radiograph.id)
        ]
        st.html(
            f'<div style="position:relative;max-width:46rem;overflow:hidden">'
            f'<a href="{address}?longest=3000" target="_blank">'
            f'<img src="{address}?longest=1200" alt="radiograph {escape(radiograph.view.value)}" '
            'style="width:100%;display:block;background:#000"></a>'
            f"{''.join(shapes)}</div>"
        )
        st.caption(escape_markdown(f"{radiograph.view.value} · boxes: the key's in yellow"))


def _build_named_box_html(box: Box, radiograph: Radiograph, *, name: str, colour: str) -> str:
    # Streamlit removes SVG from HTML, so each box is an element with a border.
    columns, rows = radiograph.columns or 1, radiograph.rows or 1
    return (
        f'<div style="position:absolute;left:{box.x_min / columns:.3%};top:{box.y_min / rows:.3%};'
        f"width:{box.width / columns:.3%};height:{box.height / rows:.3%};border:2px solid {colour};"
        'box-sizing:border-box;pointer-events:none">'
        f'<span style="color:{colour};font-size:0.75rem;padding-left:0.2rem;'
        f'text-shadow:0 0 3px #000">{escape(name)}</span></div>'
    )
