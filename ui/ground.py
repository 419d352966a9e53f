"""Colours that Streamlit does not fit to a light or dark page by itself: of words in charts and in cells."""

from __future__ import annotations

import streamlit as st

_GREY_ON_LIGHT, _GREY_ON_DARK = "#68717a", "#8a939b"


def is_light() -> bool:
    """Whether the page is light just now."""
    return bool(st.context.theme.type == "light")


def grey() -> str:
    """For words that count less than those around them: 4.7 : 1 on the light page, 5.7 on the dark one."""
    return _GREY_ON_LIGHT if is_light() else _GREY_ON_DARK


def ground() -> str:
    """The colour of the page itself, for what something else is scrolled below."""
    return str(st.get_option(f"theme.{'light' if is_light() else 'dark'}.backgroundColor"))
