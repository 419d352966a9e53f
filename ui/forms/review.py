"""The judging form as Streamlit mounts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from web.forms.files import loader, markup

#: One key for all questions, on purpose: the form tells questions apart itself (their number is in its
#: data) and takes over nothing, and one instance is what saves a flash and keeps the keyboard.
KEY = "judging-form"

_mount = st.components.v2.component(
    "overread.judging", html=markup("review"), js=loader("review"), isolate_styles=True
)


def judging_form(data: dict[str, Any], *, on_go: Callable[[], None]) -> bool:
    """Mount the form, or hand it the next question.

    ``on_go`` is called when it asks for another question (``ui.state.judging_request`` has which).

    Returns:
        Whether the reviewer asked for the guideline in this run.
    """
    result = _mount(key=KEY, data=data, on_go_change=on_go, on_guideline_change=_nothing)
    return bool(result.get("guideline"))


def _nothing() -> None:
    """Streamlit makes a trigger of every name that has a callback."""
