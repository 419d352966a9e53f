"""Shows a figure of a report, drawn as in its file but in the colours of the page."""

from __future__ import annotations

import streamlit as st

from reader_study.report.figures import Figure
from reader_study.report.svg import add_sticky_names, apply_theme
from web.forms.files import read_bundle

_mount = st.components.v2.component(
    "overread.figure",
    css=read_bundle("figure.css"),
    js=read_bundle("figure.js"),
    isolate_styles=True,
)


def show_figure(figure: Figure, *, key: str) -> None:
    """Show a figure. On a narrow page it scrolls sideways, and the row names of a grid stay visible."""
    _mount(key=key, data={"svg": add_sticky_names(apply_theme(figure.svg))})
