"""A figure of a report on its page: the drawing of the figure's file, in the colours of the page."""

from __future__ import annotations

import streamlit as st

from reader_study.report.figures import Figure
from reader_study.report.svg import held, in_theme
from ui.ground import ground, is_light
from web.forms.files import bundle

_mount = st.components.v2.component(
    "overread.figure",
    css=bundle("figure.css"),
    js=bundle("figure.js"),
    isolate_styles=True,
)


def show_figure(figure: Figure, *, key: str) -> None:
    """Draw a figure. A narrow page scrolls it sideways and keeps the row names of a grid in sight."""
    drawing = in_theme(figure.svg, dark=not is_light(), paper=ground())
    _mount(key=key, data={"svg": held(drawing)})
