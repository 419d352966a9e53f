"""Colours of text in cells, which Streamlit does not adapt to a light or dark page."""

from __future__ import annotations

import streamlit as st

_GREY_ON_LIGHT, _GREY_ON_DARK = "#68717a", "#8a939b"


def secondary_text_colour() -> str:
    """Return the colour of secondary text; contrast 4.7 : 1 on the light page, 5.7 : 1 on the dark one."""
    return _GREY_ON_LIGHT if st.context.theme.type == "light" else _GREY_ON_DARK
