"""Colours of text in charts and in cells, which Streamlit does not adapt to a light or dark page."""

from __future__ import annotations

import streamlit as st

_GREY_ON_LIGHT, _GREY_ON_DARK = "#68717a", "#8a939b"


def is_light() -> bool:
    """Whether the page is light at present."""
    return bool(st.context.theme.type == "light")


def secondary_text_colour() -> str:
    """Return the colour of secondary text; contrast 4.7 : 1 on the light page, 5.7 : 1 on the dark one."""
    return _GREY_ON_LIGHT if is_light() else _GREY_ON_DARK


def background_colour() -> str:
    """Return the page's background colour, for a fixed part under which something else is scrolled."""
    return str(st.get_option(f"theme.{'light' if is_light() else 'dark'}.backgroundColor"))
