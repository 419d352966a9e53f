"""Charts on a page: the one place that hands them to Streamlit."""

from __future__ import annotations

from typing import Literal

import altair as alt
import streamlit as st

from ui.ground import is_light

#: Streamlit writes axes in a grey that is under 4.5 : 1 on its light page; n and intervals stand there.
_ON_LIGHT = "#4a5157"


def chart(
    made: alt.Chart | alt.LayerChart | alt.FacetChart, *, width: Literal["stretch", "content"] = "stretch"
) -> None:
    """Draw it, with words that can be read on the page as it is.

    ``width="content"`` keeps the chart's own width: in a narrower window it is scrolled, not squeezed or cut.
    """
    words = {"labelColor": _ON_LIGHT, "titleColor": _ON_LIGHT} if is_light() else {}
    # Streamlit's theme moves the first and the last label off what they name.
    made = made.configure_axis(labelFlush=False, **words)
    if words:
        made = made.configure_legend(**words).configure_header(**words)
    st.altair_chart(made, width=width)
